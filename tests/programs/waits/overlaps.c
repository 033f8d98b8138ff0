/* What is begun goes on in calls alone: overlaps CASE LATE ROUNDS. All ranks begin large messages to both sides, or a sum, at
   the same time, compute, and complete what they have begun. Rank LATE computes longer. Each prints the seconds that it was in
   the call which completes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 1 << 17 };

static double room[4][LARGE];

static int begins(int is_messages, int left, int right, MPI_Request *all)
{
    if (!is_messages) {
        MPI_Iallreduce(room[0], room[1], 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, all);
        return 1;
    }
    MPI_Irecv(room[0], LARGE, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &all[0]);
    MPI_Irecv(room[1], LARGE, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &all[1]);
    MPI_Isend(room[2], LARGE, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &all[2]);
    MPI_Isend(room[3], LARGE, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &all[3]);
    return 4;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    double in = 0;
    if (argc < 4)
        return 64;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < atoi(argv[3]); i++) {
        MPI_Request all[4];
        int count = begins(!strcmp(argv[1], "messages"), (rank + ranks - 1) % ranks, (rank + 1) % ranks, all);
        usleep(rank == atoi(argv[2]) ? 25000 : 5000);
        double since = MPI_Wtime();
        MPI_Waitall(count, all, MPI_STATUSES_IGNORE);
        in += MPI_Wtime() - since;
    }
    printf("in %d %.9f\n", rank, in);
    MPI_Finalize();
    return 0;
}
