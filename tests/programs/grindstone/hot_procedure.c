// One procedure uses the time, several others hardly any: nothing of it is MPI's.
//
// profile: ranks=2 args="300"
// profile: mpi@all share<=0.1
// profile: Barrier@all calls=0

#include "grindstone.h"

static double bottleneckProcedure(double seconds)
{
    return waste_time(seconds);
}

static double irrelevantProcedure(int number)
{
    return 1.0 / (number + 1);
}

int main(int argc, char **argv)
{
    volatile double sum = 0;
    MPI_Init(&argc, &argv);
    int milliseconds = argument(argc, argv, 1, 300);
    for (int i = 0; i < 10; i++) {
        sum += bottleneckProcedure(1e-4 * milliseconds);
        for (int number = 0; number < 12; number++)
            sum += irrelevantProcedure(number);
    }
    MPI_Finalize();
    return 0;
}
