/* Pauses measuring, and computes then for longer than before and after. pauses MILLISECONDS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int length = argc > 1 ? atoi(argv[1]) : 100, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(length * 1000);
    double began = MPI_Wtime();
    MPI_Pcontrol(0);
    MPI_Pcontrol(0);
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(4 * length * 1000);
    MPI_Pcontrol(1);
    double ended = MPI_Wtime();
    usleep(length * 1000);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("paused %d %.9f\n", rank, ended - began);
    MPI_Finalize();
    return 0;
}
