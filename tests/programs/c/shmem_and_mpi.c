// Calls MPI and OpenSHMEM.

#include <mpi.h>
#include <shmem.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, finalized;
    MPI_Init(&argc, &argv);
    shmem_init();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int right = rank == shmem_my_pe();
    printf("rank %d: %s\n", rank, right ? "right" : "wrong");
    shmem_finalize();
    // Open MPI's shmem_finalize has done it already.
    MPI_Finalized(&finalized);
    if (!finalized)
        MPI_Finalize();
    return right ? 0 : 1;
}
