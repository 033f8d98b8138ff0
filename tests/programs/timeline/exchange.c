/* A ring whose ranks pass large messages on, each in one call that sends and receives, with one tag or two; rank 1 is 8 ms late in
   each round. So rank 0 waits for the receiver, rank 2 for the sender. exchange ROUNDS */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

static double room[2][1 << 16];

int main(int argc, char **argv)
{
    int rank, ranks, rounds = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    for (int i = 0; i < rounds; i++) {
        if (rank == 1)
            usleep(8000);
        if (i % 2)
            MPI_Sendrecv(room[0], 1 << 16, MPI_DOUBLE, right, rank, room[1], 1 << 16, MPI_DOUBLE, left, left,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Sendrecv_replace(room[0], 1 << 16, MPI_DOUBLE, right, 2, left, 2, MPI_COMM_WORLD,
                                 MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
