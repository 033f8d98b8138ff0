/* A rank that collects messages and asks for them again and again: collects ROUTINE BETWEEN ROUNDS. Rank 0 asks by `Testsome`,
   `Testany`, `Testall` or `Iprobe`. Then all come to a barrier.

   sleeps    rank 1 sends 20 ms late, and rank 0 sleeps between its questions: rank 1 makes the others wait
   sleeps,2  the same, and rank 0 asks each time for a message that nobody sends, too
   passes    the same, but rank 0 passes 20 us between its questions
   computes  rank 0 has work for 20 ms, and asks after each quarter of it, until rank 1 has sent after 12 ms: rank 0 makes
             the others wait */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 8, LENGTH = 64 };

static int own, ranks;
static double between, slept;
static int in_vain, sleeps, passes, asks_twice, quarters;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static double used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* So much processor time, however long that takes. */
static void work(double milliseconds)
{
    double end = used() + milliseconds * 1e-3;
    while (used() < end)
        ;
}

/* What is done after a question. */
static void pause_after(int is_in_vain)
{
    if (!is_in_vain)
        return;
    double began = now();
    in_vain++;
    if (sleeps)
        usleep(300);
    else if (passes)
        while (now() < began + 20e-6)
            ;
    else if (quarters > 0 && quarters--)
        work(5);
    between += now() - began;
}

static void collect(const char *routine, int round)
{
    double from[MOST][LENGTH];
    MPI_Request r[MOST];
    int which[MOST];
    int probes = !strcmp(routine, "Iprobe");
    quarters = 4;
    for (int i = 1; i < ranks && !probes; i++)
        MPI_Irecv(from[i], LENGTH, MPI_DOUBLE, i, round, MPI_COMM_WORLD, &r[i - 1]);
    for (int left = ranks - 1; left > 0;) {
        int done = 0, flag = 0;
        MPI_Status status;
        if (asks_twice)
            MPI_Iprobe(MPI_ANY_SOURCE, 9999, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        if (probes) {
            MPI_Iprobe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &done, &status);
            if (done)
                MPI_Recv(from[0], LENGTH, MPI_DOUBLE, status.MPI_SOURCE, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (!strcmp(routine, "Testsome")) {
            MPI_Testsome(ranks - 1, r, &done, which, MPI_STATUSES_IGNORE);
        } else if (!strcmp(routine, "Testany")) {
            MPI_Testany(ranks - 1, r, which, &done, MPI_STATUS_IGNORE);
        } else {
            MPI_Testall(ranks - 1, r, &flag, MPI_STATUSES_IGNORE);
            done = flag ? left : 0;
        }
        left -= done;
        pause_after(!done);
    }
    while (!sleeps && !passes && quarters-- > 0)
        work(5);
}

int main(int argc, char **argv)
{
    double message[LENGTH] = {0};
    if (argc < 4)
        return 64;
    asks_twice = !strcmp(argv[2], "sleeps,2");
    sleeps = asks_twice || !strcmp(argv[2], "sleeps");
    passes = !strcmp(argv[2], "passes");
    int rounds = atoi(argv[3]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < rounds; i++) {
        if (own == 0) {
            collect(argv[1], i);
        } else {
            int milliseconds = own > 1 ? 1 : sleeps || passes ? 20 : 12;
            double began = now();
            usleep(1000 * milliseconds);
            slept += now() - began;
            MPI_Send(message, LENGTH, MPI_DOUBLE, 0, i, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    printf("truth %d %d %.6f %.6f\n", own, in_vain, between, slept);
    MPI_Finalize();
    return 0;
}
