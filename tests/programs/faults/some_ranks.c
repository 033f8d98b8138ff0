// Ranks of which some are without the library. Each tells how long its MPI_Finalize took.
//
// profile: ranks=4
// profile: Allreduce@all calls=20

#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    int rank, ranks, got, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 20; i++) {
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 1, &got, 1, MPI_INT,
                     (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&got, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    // A common subtotal: no rank may wait for it either.
    MPI_Pcontrol(3);
    double began = now();
    MPI_Finalize();
    printf("rank %d of %d: %.3f s\n", rank, ranks, now() - began);
    return 0;
}
