/* Rank 2 comes to MPI late, while the others already broadcast; then rank 1 comes late to all reductions. With
   -DSLOW this is a library whose MPI_Init takes 300 ms longer on rank 2. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef SLOW
int MPI_Init(int *argc, char ***argv)
{
    int rank, result = PMPI_Init(argc, argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 2)
        usleep(300000);
    return result;
}
#else
int main(int argc, char **argv)
{
    int rank, in = 1, out;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 4; i++)
        MPI_Bcast(&in, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 20; i++) {
        if (rank == 1)
            usleep(20000); /* longer than the slice of a processor that others share */
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
#endif
