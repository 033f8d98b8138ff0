// Many small messages from clients to a server that does not reply. A message has 1,000 bytes: one
// of 4 bytes takes hardly longer than the profile's own work for a call, which counts as outside.
//
// profile: ranks=4 args="20000 1000"
// profile: Send@1- calls=20000 count=20000000 sends=20000 sent=20000000 received=0
// profile: Send@0 calls=0
// profile: Recv@0 calls=60000 count=60000000 receives=60000 received=60000000
// profile: Recv@1- calls=0
// profile: mpi@1- share>=0.7
// profile: mpi@0 share>=0.7
// profile: Barrier@all share<=0.3

#include "grindstone.h"

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int iterations = argument(argc, argv, 1, 20000), bytes = argument(argc, argv, 2, 1000);
    char *message = calloc(1, (size_t)bytes);
    if (rank == 0)
        for (long left = (long)iterations * (ranks - 1); left > 0; left--)
            MPI_Recv(message, bytes, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    else
        for (int i = 0; i < iterations; i++)
            MPI_Send(message, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    free(message);
    MPI_Finalize();
    return 0;
}
