// Very large messages between two processes.
//
// profile: ranks=2 args="50 1000000"
// profile: Send@all calls=50 count=50000000 sends=50 sent=200000000
// profile: Recv@all calls=50 count=50000000 receives=50 received=200000000
// profile: mpi@all share>=0.7

#include "grindstone.h"

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int iterations = argument(argc, argv, 1, 50), count = argument(argc, argv, 2, 1000000);
    int *message = calloc((size_t)count, sizeof *message);
    for (int i = 0; i < iterations; i++) {
        if (rank == 0)
            MPI_Send(message, count, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(message, count, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(message, count, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    free(message);
    MPI_Finalize();
    return 0;
}
