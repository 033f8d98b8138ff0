// Rank 1 starts two ranks of the program that its argument names, twice: those of the first time start
// one further rank.

#include <mpi.h>
#include <stddef.h>

static void start_workers(char *program, int more)
{
    char *words[] = {more ? "more" : "alone", NULL};
    MPI_Comm workers;
    MPI_Comm_spawn(program, words, 2, MPI_INFO_NULL, 1, MPI_COMM_WORLD, &workers,
                   MPI_ERRCODES_IGNORE);
    MPI_Comm_disconnect(&workers);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    start_workers(argv[1], 1);
    start_workers(argv[1], 0);
    MPI_Finalize();
    return 0;
}
