/* What is begun goes on in calls alone: overlaps CASE LATE ROUNDS. All ranks begin large or short messages to both sides, short
   ones by persistent requests, or a sum, at the same time, compute, and complete what they have begun. Rank LATE computes longer.
   Each prints the seconds that it was in the call which completes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 1 << 17 };

static double room[4][LARGE];

enum { SHORT = 200 };

static void prepare(int left, int right, MPI_Request *all)
{
    MPI_Recv_init(room[0], SHORT, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &all[0]);
    MPI_Recv_init(room[1], SHORT, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &all[1]);
    MPI_Send_init(room[2], SHORT, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &all[2]);
    MPI_Send_init(room[3], SHORT, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &all[3]);
}

static int begins(const char *what, int left, int right, MPI_Request *all)
{
    int count = strcmp(what, "messages") ? SHORT : LARGE;
    if (!strcmp(what, "sum")) {
        MPI_Iallreduce(room[0], room[1], 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, all);
        return 1;
    }
    if (!strcmp(what, "persistent")) {
        MPI_Startall(4, all);
        return 4;
    }
    MPI_Irecv(room[0], count, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &all[0]);
    MPI_Irecv(room[1], count, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &all[1]);
    MPI_Isend(room[2], count, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &all[2]);
    MPI_Isend(room[3], count, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &all[3]);
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
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Request all[4];
    if (!strcmp(argv[1], "persistent"))
        prepare(left, right, all);
    for (int i = 0; i < atoi(argv[3]); i++) {
        int count = begins(argv[1], left, right, all);
        usleep(rank == atoi(argv[2]) ? 25000 : 5000);
        double since = MPI_Wtime();
        MPI_Waitall(count, all, MPI_STATUSES_IGNORE);
        in += MPI_Wtime() - since;
    }
    printf("in %d %.9f\n", rank, in);
    MPI_Finalize();
    return 0;
}
