// topas: ranks=8 static=mpich expect: lang=c lib=mpi end=exit:0 mode=I user=tester
// topas: expect: stdout="hello from rank 0 of 8" stdout="hello from rank 7 of 8"
//
// The smallest MPI program.

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    printf("hello from rank %d of %d\n", rank, ranks);
    MPI_Finalize();
    return 0;
}
