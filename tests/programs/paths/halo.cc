// Calls from a lambda, a virtual function and an algorithm. The test finds lines by the calls in
// them.
#include <mpi.h>

#include <algorithm>
#include <vector>

static int rank, size;

struct Grid {
    virtual ~Grid() {}
    virtual void exchange(std::vector<double> &halo) = 0;
};

struct Ring : Grid {
    __attribute__((noinline)) void exchange(std::vector<double> &halo) override {
        int next = (rank + 1) % size, before = (rank + size - 1) % size;
        MPI_Sendrecv_replace(halo.data(), 10, MPI_DOUBLE, next, 0, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
};

__attribute__((noinline)) static void relax(Grid &grid) {
    std::vector<std::vector<double>> halos(25, std::vector<double>(10, 1.0));
    std::for_each(halos.begin(), halos.end(), [&](std::vector<double> &halo) {
        grid.exchange(halo);
        MPI_Barrier(MPI_COMM_WORLD);
    });
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    Ring ring;
    relax(ring);
    MPI_Finalize();
}
