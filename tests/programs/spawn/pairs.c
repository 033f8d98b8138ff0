// Both ranks start one further rank of this program each, at the same time and by communicators of their own. The one that
// rank 1 starts sends late.

#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Comm parent, inter;
    int rank, late = argc > 1;
    char *words[] = {"late", NULL};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Comm_spawn(argv[0], rank == 1 ? words : MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0,
                       MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
    } else {
        inter = parent;
    }
    for (int round = 0; round < 20; round++) {
        int value = round;
        if (parent == MPI_COMM_NULL) {
            MPI_Recv(&value, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
            MPI_Send(&value, 1, MPI_INT, 0, 1, inter);
        } else {
            if (late)
                usleep(10000);
            MPI_Send(&value, 1, MPI_INT, 0, 0, inter);
            // Who is behind does not find several messages.
            MPI_Recv(&value, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
        }
    }
    MPI_Comm_disconnect(&inter);
    MPI_Finalize();
    return 0;
}
