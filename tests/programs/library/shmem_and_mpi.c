// OpenSHMEM and MPI in one program: the end of SHMEM ends MPI, too.

#include <mpi.h>
#include <shmem.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    shmem_init();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
