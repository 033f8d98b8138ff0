// Ends in the way and with the number its arguments name; with MPI in the state and in the
// rank of the two further arguments.

#include "ways.h"

#include <stdlib.h>
#ifdef WITH_MPI
#include "launched.h"
#include <mpi.h>
#endif

int main(int argc, char **argv)
{
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
    if (argc != 5 || !acts(argv[3], atoi(argv[4])))
        return 0;
#else
    if (argc != 3)
        return UNKNOWN;
#endif
    return end_by(argv[1], atoi(argv[2]));
}
