// topas: ranks=4 args="0.05 1 0.1" expect: lang=c lib=mpi end=exit:0
// topas: expect: stdout="uneven: 4 ranks"
//
// uneven SECONDS RANK MORE: every rank computes for SECONDS of CPU time, and RANK for MORE; then
// all wait for each other without using the processor, as a program does that waits for a disk.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double cpu_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 4) return 2;
    double mine = atof(argv[1]) + (rank == atoi(argv[2]) ? atof(argv[3]) : 0);

    double start = cpu_time();
    volatile double x = 1;
    while (cpu_time() - start < mine)
        for (int i = 0; i < 10000; i++) x = x * 1.0000001 + 1e-9;

    MPI_Request all;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    for (int done = 0; !done; usleep(2000)) MPI_Test(&all, &done, MPI_STATUS_IGNORE);
    if (rank == 0) printf("uneven: %d ranks\n", size);
    MPI_Finalize();
    return 0;
}
