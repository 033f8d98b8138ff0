/* Calls of MPI that are many and short: short_calls CASE SECONDS. The ranks compute alike, but for the case late. */
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

/* A message goes to the other rank and back, so often. */
static void ping_pong(int messages)
{
    int ball = 0;
    for (int i = 0; i < messages && rank == 0; i++) {
        MPI_Send(&ball, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(&ball, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < messages && rank == 1; i++) {
        MPI_Recv(&ball, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&ball, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
}

static void barriers(int calls)
{
    for (int i = 0; i < calls; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

int main(int count, char **values)
{
    MPI_Init(&count, &values);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *which = values[1];
    double end = MPI_Wtime() + atof(values[2]);
    /* Rank 0 says when it is enough. */
    for (int goes_on = 1; goes_on;) {
        if (!strcmp(which, "ring"))
            ring(1000);
        else if (!strcmp(which, "ping_pong"))
            ping_pong(1000);
        else if (!strcmp(which, "barriers"))
            barriers(100);
        else {
            /* Rank 1 is late by 40 ms, and then there are many messages. */
            usleep(rank == 1 ? 42000 : 2000);
            ring(100);
        }
        goes_on = MPI_Wtime() < end;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
