// One end of MPI in a plugin: NAME is `begin` or `end`.

#include <mpi.h>

static int begin(void)
{
    return MPI_Init(0, 0);
}

static int end(void)
{
    return MPI_Finalize();
}

int run(void)
{
    // So that both are used.
    return NAME == begin ? begin() : end();
}
