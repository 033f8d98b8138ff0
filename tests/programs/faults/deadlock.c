// Ranks that wait for ever, in the way that the argument names: "circle", each sends a long message to the
// next; "collective", one waits for a message that nobody sends, the others for it; "computing", one computes for
// ever, the others wait for it.

#include <mpi.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 1 << 20 };
static double there[LONG], back[LONG];

__attribute__((noinline)) static void circle(int rank, int ranks)
{
    MPI_Send(there, LONG, MPI_DOUBLE, (rank + 1) % ranks, 0, MPI_COMM_WORLD); // circle
    MPI_Recv(back, LONG, MPI_DOUBLE, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void collective(int rank)
{
    int one = 1, sum;
    if (rank == 1)
        MPI_Recv(&one, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // message
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); // sum
}

__attribute__((noinline)) static void computing(int rank)
{
    while (rank == 1)
        usleep(10000);
    MPI_Barrier(MPI_COMM_WORLD); // barrier
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(argv[1], "circle") == 0)
        circle(rank, ranks);
    else if (strcmp(argv[1], "collective") == 0)
        collective(rank);
    else
        computing(rank);
    MPI_Finalize();
    return 0;
}
