/* A ring whose ranks start sends of large messages and wait for them alone, together with a receive, or for any of two;
   rank 1 is 8 ms late in each round, so rank 0 waits for the receiver. started ROUNDS */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { LARGE = 1 << 16 };

static double room[4][LARGE];

int main(int argc, char **argv)
{
    int rank, ranks, at, rounds = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    for (int i = 0; i < rounds; i++) {
        MPI_Request requests[4];
        if (rank == 1)
            usleep(8000);
        for (int k = 0; k < 2; k++)
            MPI_Irecv(room[k], LARGE, MPI_DOUBLE, left, k, MPI_COMM_WORLD, &requests[k]);
        for (int k = 0; k < 2; k++)
            MPI_Isend(room[2 + k], LARGE, MPI_DOUBLE, right, k, MPI_COMM_WORLD, &requests[2 + k]);
        if (i % 3 == 0)
            MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        else if (i % 3 == 1) {
            MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
            MPI_Wait(&requests[3], MPI_STATUS_IGNORE);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        } else {
            MPI_Waitany(2, requests + 2, &at, MPI_STATUS_IGNORE);
            MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}
