// An overloaded server: each client sends a request and waits for the reply, the server wastes time
// before it replies. In the thesis clients were 0.998 of their time in MPI_Recv and 0.00003 in
// MPI_Send, the server 0.0002 in each.
//
// profile: ranks=4 args="40 4"
// profile: Recv@1- calls=40 receives=40 received=160 share>=0.85
// profile: Send@1- calls=40 sends=40 sent=160 share<=0.1
// profile: Recv@0 calls=120 receives=120 received=480 share<=0.25
// profile: Send@0 calls=120 sends=120 sent=480 share<=0.1

#include "grindstone.h"

int main(int argc, char **argv)
{
    int rank, ranks, request = 0;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int requests = argument(argc, argv, 1, 40), milliseconds = argument(argc, argv, 2, 4);
    if (rank == 0)
        for (int left = requests * (ranks - 1); left > 0; left--) {
            MPI_Recv(&request, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
            waste_time(1e-3 * milliseconds);
            MPI_Send(&request, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
        }
    else
        for (int i = 0; i < requests; i++) {
            MPI_Send(&request, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
            MPI_Recv(&request, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    MPI_Finalize();
    return 0;
}
