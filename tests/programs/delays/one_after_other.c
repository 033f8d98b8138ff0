/* Ranks that are late one after the other: in the first half of the steps rank 1 sleeps 10 ms longer than the others,
   then rank 2 15 ms. Each rank exchanges with its neighbours in a ring, and all meet. one_after_other STEPS */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, ranks, steps = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int step = 0; step < steps; step++) {
        int late = 2 * step < steps ? 1 : 2;
        usleep(rank == late ? 5000 * (late + 1) : 100);
        int sent = rank, received;
        MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % ranks, 0, &received, 1, MPI_INT, (rank + ranks - 1) % ranks, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return argc < 2;
}
