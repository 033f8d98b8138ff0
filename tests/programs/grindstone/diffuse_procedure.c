// A bottleneck that is spread over all processes: they take turns in bottleneckProcedure, while the
// others have little to do and wait in MPI_Barrier. No rank stands out, each waits three quarters of
// its time, and more where ranks wait for a processor.
//
// profile: ranks=4 args="80 4"
// profile: Barrier@all calls=80 share>=0.6 share<=0.97
// profile: outside@all seconds>=worked*0.95

#include "grindstone.h"

static double bottleneckProcedure(int milliseconds)
{
    return waste_time(1e-3 * milliseconds);
}

static double irrelevantProcedure(int number)
{
    return 1.0 / (number + 1);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    volatile double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int iterations = argument(argc, argv, 1, 80), milliseconds = argument(argc, argv, 2, 4);
    for (int i = 0; i < iterations; i++) {
        if (i % ranks == rank)
            sum += bottleneckProcedure(milliseconds);
        else
            for (int number = 0; number < 8; number++)
                sum += irrelevantProcedure(number);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    printf("worked@%d=%.6f\n", rank, 1e-3 * milliseconds * (iterations / ranks));
    MPI_Finalize();
    return 0;
}
