/* Asks whether functions are there before it calls them, as programs do that run with several versions of
 * MPI. */

#include <mpi.h>

#include <stdio.h>

/* Of a later version. */
int MPI_Ibarrier(MPI_Comm comm, void *request) __attribute__((weak));

int main(int argc, char **argv)
{
    long request[4];
    MPI_Init(&argc, &argv);
    if (MPI_Ibarrier == NULL)
        printf("no MPI_Ibarrier\n");
    else
        printf("MPI_Ibarrier: %d\n", MPI_Ibarrier(MPI_COMM_WORLD, request));
    for (int i = 0; i < 3; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
