// The last rank stops between two exchanges, to be killed there. The others wait for it in the next one. With the word
// `crash`, it kills itself there; with the word `goes`, it goes on.

#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) static void swap(int rank, int ranks)
{
    double there = rank, back;
    int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
    MPI_Sendrecv(&there, 1, MPI_DOUBLE, next, 0, &back, 1, MPI_DOUBLE, last, 0, MPI_COMM_WORLD, // swap
                 MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    const char *word = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 100; i++) {
        usleep(10000);
        while (i == 50 && rank == ranks - 1 && strcmp(word, "goes") != 0) {
            if (strcmp(word, "crash") == 0)
                raise(SIGKILL);
            pause();
        }
        swap(rank, ranks);
    }
    MPI_Finalize();
    return 0;
}
