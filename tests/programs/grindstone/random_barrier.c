// On each iteration a random process wastes time, the others wait for it in MPI_Barrier. No process
// is the bottleneck; all together are. A rank tells how long others wasted time, which is what it
// must have waited.
//
// profile: ranks=4 args="80 5"
// profile: Barrier@all calls=80 share>=0.5 share<=0.98 sent=0 received=0
// profile: Barrier@all seconds>=waited*0.9
// profile: outside@all seconds>=worked*0.95
// profile: Barrier@sum seconds>=1.15

#include "grindstone.h"

int main(int argc, char **argv)
{
    int rank, ranks, others = 0;
    unsigned state = 4711;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int iterations = argument(argc, argv, 1, 80), milliseconds = argument(argc, argv, 2, 5);
    for (int i = 0; i < iterations; i++) {
        int chosen = random_below(&state, ranks);
        if (chosen == rank)
            waste_time(1e-3 * milliseconds);
        others += chosen != rank;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    printf("waited@%d=%.6f\n", rank, 1e-3 * milliseconds * others);
    printf("worked@%d=%.6f\n", rank, 1e-3 * milliseconds * (iterations - others));
    MPI_Finalize();
    return 0;
}
