/* A ring of ranks that exchange messages in three ways; rank 1 is 8 ms late in each round. late ROUNDS */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

static double room[1 << 16];

int main(int argc, char **argv)
{
    int rank, ranks, rounds = argc > 1 ? atoi(argv[1]) : 1;
    double sum, own = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    MPI_Comm turned;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    for (int i = 0; i < rounds; i++) {
        MPI_Request requests[2];
        if (rank == 1)
            usleep(8000);
        /* So large that the sender waits for the receiver. */
        if (rank == 0)
            MPI_Send(room, 1 << 16, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
        else if (rank == 1)
            MPI_Recv(room, 1 << 16, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(room, 100, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(room + 1000, 100, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Sendrecv(room, 10, MPI_DOUBLE, right, 3, room + 1000, 10, MPI_DOUBLE, left, 3, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, i % 2 ? turned : MPI_COMM_WORLD);
    }
    MPI_Comm_free(&turned);
    MPI_Finalize();
    return 0;
}
