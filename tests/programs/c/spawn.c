// Spawns as many ranks as it has itself, as often as its argument says, from the same
// executable.

#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int ranks;
    MPI_Comm parent, children;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Comm_disconnect(&parent);
    } else {
        for (int times = argc > 1 ? atoi(argv[1]) : 1; times > 0; times--) {
            MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, ranks, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                           &children, MPI_ERRCODES_IGNORE);
            MPI_Comm_disconnect(&children);
        }
    }
    MPI_Finalize();
    return 0;
}
