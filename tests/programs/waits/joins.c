/* A second thread of each rank exchanges with the neighbours, and the first one joins it before all ranks meet. Rank 2
 * works four times as long as the others: the thread of rank 3 waits for it, and all wait for rank 3.
 * Arguments: rounds. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int rank, size;

static void *exchange(void *unused) {
  int own = rank, other, next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_Sendrecv(&own, 1, MPI_INT, next, 1, &other, 1, MPI_INT, before, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  return unused;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < atoi(argv[1]); i++) {
    pthread_t thread;
    usleep(rank == 2 ? 40000 : 10000);
    pthread_create(&thread, NULL, exchange, NULL);
    pthread_join(thread, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
