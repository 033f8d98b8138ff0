// Every rank runs the command in its argument, before, between and behind its use of MPI.

#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int status = system(argv[1]);
    MPI_Init(&argc, &argv);
    status |= system(argv[1]);
    MPI_Finalize();
    return (status | system(argv[1])) != 0;
}
