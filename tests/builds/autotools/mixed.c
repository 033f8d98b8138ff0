// C that calls Fortran.

#include "config.h"

#include <mpi.h>
#include <stdio.h>

void FC_FUNC(add, ADD)(int *to, int *value);

int main(int argc, char **argv)
{
    int rank, sum = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FC_FUNC(add, ADD)(&sum, &rank);
    printf("rank %d and 1 is %d\n", rank, sum);
    MPI_Finalize();
    return 0;
}
