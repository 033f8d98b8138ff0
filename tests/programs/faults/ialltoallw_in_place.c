// An exchange in place in which some blocks are empty, so that rank 3 sends and receives nothing. Under
// Open MPI 4.1.4 it never ends, or finds a message truncated, with or without a profile. It waits 5 s.

#include <mpi.h>

int main(int argc, char **argv)
{
    static int in[4096];
    int rank, ranks, done = 0, counts[4], bytes[4];
    MPI_Datatype each[4];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 4)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < ranks; i++) {
        counts[i] = (1 + rank) * (1 + i) % 4;
        bytes[i] = 1024 * i;
        each[i] = MPI_INT;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ialltoallw(MPI_IN_PLACE, 0, 0, 0, in, counts, bytes, each, MPI_COMM_WORLD, &request);
    for (double end = MPI_Wtime() + 5; !done && MPI_Wtime() < end;)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done)
        MPI_Abort(MPI_COMM_WORLD, 3);
    return MPI_Finalize();
}
