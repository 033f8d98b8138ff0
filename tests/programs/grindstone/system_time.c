// Most of the time goes to system calls: nothing of it is MPI's.
//
// profile: ranks=2 args="300"
// profile: mpi@all share<=0.1
// profile: Barrier@all calls=0

#include "grindstone.h"

int main(int argc, char **argv)
{
    char page[4096];
    MPI_Init(&argc, &argv);
    int milliseconds = argument(argc, argv, 1, 300);
    FILE *zeros = fopen("/dev/zero", "r");
    if (zeros == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    setvbuf(zeros, NULL, _IONBF, 0);
    // Of processor time: a machine that others use gives little of it in a second.
    for (clock_t end = clock() + CLOCKS_PER_SEC / 1000 * milliseconds; clock() < end;)
        for (int i = 0; i < 100; i++)
            if (fread(page, 1, sizeof page, zeros) != sizeof page)
                MPI_Abort(MPI_COMM_WORLD, 1);
    fclose(zeros);
    MPI_Finalize();
    return 0;
}
