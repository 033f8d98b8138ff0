/* Rank 1 computes 60 ms and sends to rank 0, which computes 30 ms more and sends to rank 2; then all meet. Rank 1 waits there
 * for what rank 0 computed, though rank 0 had waited for it. Arguments: rounds. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int rank, x = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < atoi(argv[1]); i++) {
    usleep(rank == 1 ? 60000 : 10000);
    if (rank == 0)
      MPI_Recv(&x, 1, MPI_INT, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
      usleep(30000);
    if (rank < 2)
      MPI_Send(&x, 1, MPI_INT, rank == 1 ? 0 : 2, i, MPI_COMM_WORLD);
    if (rank == 2)
      MPI_Recv(&x, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
