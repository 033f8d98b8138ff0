// MPI_Init a second time, which is an error: told by a code, or the end of the program.
//
// profile: ranks=2
// profile: Comm_set_errhandler@all calls=1

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int second = MPI_Init(&argc, &argv);
    printf("%d\n", second != MPI_SUCCESS);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
