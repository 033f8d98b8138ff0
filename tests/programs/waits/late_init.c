/* Rank 1 comes to MPI_Init so many milliseconds later than the others: late_init MILLISECONDS. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank)
        rank = getenv("PMI_RANK");
    if (argc < 2 || !rank)
        return 64;
    if (atoi(rank) == 1)
        usleep(1000 * atoi(argv[1]));
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 10; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
