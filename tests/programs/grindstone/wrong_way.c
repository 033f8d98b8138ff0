// One process expects messages in an order, another sends them in the opposite one: nearly all wait
// in the receiver's queue until the last has come.
//
// profile: ranks=2 args="50 1000"
// profile: Send@0 calls=50000 count=50000 sends=50000 sent=200000
// profile: Recv@1 calls=50000 count=50000 receives=50000 received=200000
// profile: Send@1 calls=50 sent=0
// profile: Recv@0 calls=50 received=0
// profile: mpi@all share>=0.7

#include "grindstone.h"

int main(int argc, char **argv)
{
    int rank, message = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int iterations = argument(argc, argv, 1, 50), messages = argument(argc, argv, 2, 1000);
    for (int i = 0; i < iterations; i++)
        if (rank == 0) {
            for (int tag = messages; tag > 0; tag--)
                MPI_Send(&message, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
            // Or the queue would grow without a limit.
            MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            for (int tag = 1; tag <= messages; tag++)
                MPI_Recv(&message, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
        }
    MPI_Finalize();
    return 0;
}
