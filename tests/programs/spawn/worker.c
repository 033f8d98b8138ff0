// Rank 1 of those that were started comes late to barriers. With the word `more`, the ranks start one
// further rank of this program.

#include <mpi.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Comm parent, further;
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_get_parent(&parent);
    if (argc > 1 && strcmp(argv[1], "more") == 0) {
        char *none[] = {"alone", NULL}, *commands[] = {argv[0]}, **words[] = {none};
        int one[] = {1};
        MPI_Info info[] = {MPI_INFO_NULL};
        MPI_Comm_spawn_multiple(1, commands, words, one, info, 0, MPI_COMM_WORLD, &further,
                                MPI_ERRCODES_IGNORE);
        MPI_Comm_disconnect(&further);
    }
    MPI_Comm_disconnect(&parent);
    for (int round = 0; round < 130 && ranks > 1; round++) {
        if (rank == 1)
            usleep(15000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
