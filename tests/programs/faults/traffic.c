// Traffic that tools of all kinds count.
//
// profile: ranks=2
// profile: Init@all calls=1
// profile: Send@all calls=100 sends=100 sent=1000
// profile: Recv@all calls=100 receives=100 received=1000
// profile: Barrier@all calls=7
// profile: Allreduce@all calls=20 count=20
// profile: Isend@all calls=5 sent=200
// profile: Irecv@all calls=5 received=200
// profile: Waitall@all calls=5
// profile: Finalize@all calls=1

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, ranks, sum = 0, in[10], out[10] = {0};
    char text[10] = "123456789";
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int other = 1 - rank;
    for (int i = 0; i < 100; i++) {
        if (rank == 0)
            MPI_Send(text, 10, MPI_CHAR, other, 1, MPI_COMM_WORLD);
        MPI_Recv(text, 10, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(text, 10, MPI_CHAR, other, 1, MPI_COMM_WORLD);
    }
    for (int i = 0; i < 7; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 20; i++)
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 5; i++) {
        MPI_Irecv(in, 10, MPI_INT, other, 2, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, 10, MPI_INT, other, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    printf("%d: sum %d\n", rank, sum);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
