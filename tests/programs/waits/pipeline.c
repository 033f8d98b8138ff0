/* Large blocks go from rank to rank. Rank 2 works four times as long on each as the others, so rank 3 waits
 * for what it sends, and rank 1 until it receives. Arguments: blocks. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

static char block[1000000];

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < atoi(argv[1]); i++) {
    if (rank > 0)
      MPI_Recv(block, sizeof block, MPI_CHAR, rank - 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(rank == 2 ? 40000 : 10000);
    if (rank < size - 1)
      MPI_Send(block, sizeof block, MPI_CHAR, rank + 1, i, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
