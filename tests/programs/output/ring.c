// What a rank does is known: 7 MPI_Sendrecv of 100 B to the next, 3 MPI_Allreduce of 2 doubles. The
// first argument is a level for MPI_Pcontrol, called in the middle; the second one for another call
// at the end.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    char out[100] = {0}, in[100];
    double mine[2] = {1, 2}, sum[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 7; i++) {
        if (i == 4 && argc > 1)
            MPI_Pcontrol(atoi(argv[1]));
        MPI_Sendrecv(out, 100, MPI_BYTE, (rank + 1) % size, 0, in, 100, MPI_BYTE,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (argc > 2)
        MPI_Pcontrol(atoi(argv[2]));
    for (int i = 0; i < 3; i++)
        MPI_Allreduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        printf("sum %g\n", sum[0]);
    return 0;
}
