/* Persistent requests: the event log does not say which of them a call has completed. Rank 1 is late in each round. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size, rounds = argc > 1 ? atoi(argv[1]) : 40;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double out[2] = {0}, in[2] = {0};
    MPI_Request requests[2];
    MPI_Send_init(out, 2, MPI_DOUBLE, (rank + 1) % size, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(in, 2, MPI_DOUBLE, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < rounds; round++) {
        const struct timespec late = {0, 20000000};
        if (rank == 1)
            nanosleep(&late, NULL);
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Finalize();
    return 0;
}
