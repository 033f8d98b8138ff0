// Exceptions that leave MPI through the functions of the library: thrown by an error handler and by a
// reduction, caught by the caller.
//
// profile: ranks=2
// profile: Send@all calls=150 sends=100 sent=400
// profile: Recv@all calls=100 received=400
// profile: Barrier@all calls=2

#include <cstdio>
#include <mpi.h>
#include <stdexcept>

static void error(MPI_Comm *, int *code, ...)
{
    int error_class;
    MPI_Error_class(*code, &error_class);
    throw std::runtime_error(error_class == MPI_ERR_TAG ? "tag" : "something");
}

struct Guard {
    int &unwound;
    ~Guard() { unwound++; }
};

int main(int argc, char **argv)
{
    int rank, value = 0, caught = 0, unwound = 0;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_errhandler(error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 50; i++)
        try {
            Guard guard{unwound};
            MPI_Send(&value, 1, MPI_INT, 0, -4711, MPI_COMM_WORLD);
        } catch (const std::runtime_error &thrown) {
            caught += thrown.what()[0] == 't';
        }
    for (int i = 0; i < 100; i++)
        if (rank == 0) {
            MPI_Send(&i, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
    MPI_Barrier(MPI_COMM_WORLD);
    std::printf("%d: caught %d, unwound %d\n", rank, caught, unwound);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
}
