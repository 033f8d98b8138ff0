/* A program of it. */

#include <mpi.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, sum = 0, data[8], got[8];
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 20; i++) {
        for (int k = 0; k < 8; k++)
            data[k] = i + k;
        MPI_Send(data, 8, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Recv(got, 8, MPI_INT, 0, 1, MPI_COMM_WORLD, i % 2 ? &status : MPI_STATUS_IGNORE);
        sum += got[7];
    }
    for (int i = 0; i < 3; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++)
        sum += MPI_Frobnicate(i, MPI_COMM_WORLD);
    printf("%d of %d: %d, %ld ints of %ld\n", rank, size, sum, status.length, status.source);
    fflush(stdout);
    return MPI_Finalize();
}
