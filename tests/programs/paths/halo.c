/* Halo exchange and a sum, each from two places. The test finds lines by the calls in them. */
#include <mpi.h>
#include <unistd.h>

static int rank, size;
static double field[1000], ghost[1000];

__attribute__((noinline)) static void exchange(int n) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Irecv(ghost, n, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(field, n, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
}

static inline __attribute__((always_inline)) double sum(double mine) {
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

__attribute__((noinline)) static double solve(int steps) {
    double x = rank;
    for (int i = 0; i < steps; i++) {
        exchange(100);
        x += sum(x);
    }
    return x;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    volatile double x = solve(50);
    exchange(7);
    MPI_Finalize();
    return x < 0;
}
