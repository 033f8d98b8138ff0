/* Starts so many ranks of a launch, in the environment of Open MPI's launcher, lets them end at the
 * same moment, and prints the microseconds until all had ended and those of processor time that
 * their ends took: gang RANKS PROGRAM. A rank ends when its standard input does. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double wall(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

/* Processor time of all processes that have a file /proc/PID/stat in the list. */
static double used(const pid_t *ranks, int count)
{
    double ticks = 0;
    for (int i = 0; i < count; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/schedstat", ranks[i]);
        FILE *file = fopen(path, "r");
        double nanoseconds = 0;
        if (file && fscanf(file, "%lf", &nanoseconds) == 1)
            ticks += nanoseconds / 1e3;
        if (file)
            fclose(file);
    }
    return ticks;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    int count = atoi(argv[1]), gate[2];
    pid_t *ranks = calloc(count, sizeof *ranks);
    if (!ranks || pipe(gate))
        return 1;
    for (int i = 0; i < count; i++) {
        ranks[i] = vfork();
        if (ranks[i] == 0) {
            char rank[64], size[64], local[64], log[] = "TOPAS_LOG=file:/dev/null";
            char key[] = "OMPI_MCA_orte_precondition_transports=0123-4567";
            snprintf(rank, sizeof rank, "OMPI_COMM_WORLD_RANK=%d", i);
            snprintf(size, sizeof size, "OMPI_COMM_WORLD_SIZE=%d", count);
            snprintf(local, sizeof local, "OMPI_COMM_WORLD_LOCAL_SIZE=%d", count);
            char *environment[] = {rank, size, local, log, key, NULL};
            dup2(gate[0], 0);
            close(gate[0]);
            close(gate[1]);
            execle(argv[2], argv[2], (char *)NULL, environment);
            _exit(127);
        }
    }
    sleep(1);
    double before = used(ranks, count);
    double begin = wall();
    close(gate[1]);
    int status, failed = 0;
    for (int i = 0; i < count; i++)
        failed += waitpid(ranks[i], &status, 0) < 0 || status != 0;
    double end = wall();
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    double all = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
                 usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
    printf("%.0f %.0f\n", end - begin, all - before);
    return failed != 0;
}
