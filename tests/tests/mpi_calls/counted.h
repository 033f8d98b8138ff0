/* Counts the calls of a program where they stand in its source. The macros that say which calls
 * follow this text. What the program counted, and a copy of what the library counted before
 * MPI_Finalize, are written into files beside each other. */
#include <mpi.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef PROFILING
#define BY(name) P##name
#else
#define BY(name) name
#endif

static long long counted_calls[COUNTED], counted_counts[COUNTED];
static const char *const counted_names[COUNTED];

__attribute__((unused)) static void counted(int function, long long count) {
    __atomic_fetch_add(&counted_calls[function], 1, __ATOMIC_RELAXED);
    /* What is not significant is -1 in these programs. */
    __atomic_fetch_add(&counted_counts[function], count < 0 ? 0 : count, __ATOMIC_RELAXED);
}

__attribute__((unused)) static int counted_rank(void) {
    const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};
    for (int i = 0; i < 2; i++)
        if (getenv(names[i])) return atoi(getenv(names[i]));
    return 0;
}

__attribute__((unused)) static FILE *counted_file(const char *what) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%d", getenv("COUNTED"), what, counted_rank());
    FILE *file = fopen(path, "w");
    if (!file) abort();
    return file;
}

/* The file into which the library counts, as far as it is in use now. */
__attribute__((unused)) static void counted_copy(void) {
    static char bytes[1 << 16];
    char path[4096];
    const char *spool = getenv("TOPAS_MPI_SPOOL");
    DIR *dir = spool ? opendir(spool) : NULL;
    if (!dir) return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        unsigned pid;
        unsigned long used;
        snprintf(path, sizeof path, "%s/%s", spool, entry->d_name);
        FILE *from = fopen(path, "r");
        if (!from) continue; /* that of another rank, which has just removed it */
        size_t n = fread(bytes, 1, USED_AT + sizeof used, from);
        memcpy(&pid, bytes + PID_AT, sizeof pid);
        memcpy(&used, bytes + USED_AT, sizeof used);
        if (n < USED_AT + sizeof used || pid != (unsigned)getpid()) {
            fclose(from);
            continue;
        }
        FILE *to = counted_file("profile");
        rewind(from);
        for (; used > 0; used -= n) {
            n = fread(bytes, 1, used < sizeof bytes ? used : sizeof bytes, from);
            if (n == 0) abort();
            fwrite(bytes, 1, n, to);
        }
        fclose(from);
        fclose(to);
    }
    closedir(dir);
}

__attribute__((unused)) static void counted_end(void) {
    if (!getenv("COUNTED")) return;
    counted_copy();
    FILE *file = counted_file("counted");
    for (int i = 0; i < COUNTED; i++)
        if (counted_calls[i])
            fprintf(file, "%s %lld %lld\n", counted_names[i], counted_calls[i], counted_counts[i]);
    fclose(file);
}
