/* Calls of MPI that are many and short: short_calls CASE ROUNDS. The ranks compute alike, but for the case late. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks;

/* Each rank sends a few bytes to its right, so often. */
static void ring(int messages)
{
    int own = rank, left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks, got;
    for (int i = 0; i < messages; i++)
        MPI_Sendrecv(&own, 1, MPI_INT, right, 1, &got, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* A message goes to the other rank and back. */
static void ping_pong(void)
{
    int ball = 0;
    if (rank == 0) {
        MPI_Send(&ball, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(&ball, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(&ball, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&ball, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
}

int main(int count, char **values)
{
    MPI_Init(&count, &values);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *which = values[1];
    for (int i = 0, rounds = atoi(values[2]); i < rounds; i++) {
        if (!strcmp(which, "ring"))
            ring(1);
        else if (!strcmp(which, "ping_pong"))
            ping_pong();
        else if (!strcmp(which, "barriers"))
            MPI_Barrier(MPI_COMM_WORLD);
        else {
            /* Rank 1 is late for 20 ms, and then there are many messages. */
            usleep(rank == 1 ? 22000 : 2000);
            ring(100);
        }
    }
    MPI_Finalize();
    return 0;
}
