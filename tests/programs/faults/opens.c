// A program that has no MPI, opens one by its path, and finds every function by its name.
//
// profile: ranks=2
// profile: Init@all calls=1
// profile: Send@0 calls=5 sends=5 sent=50
// profile: Recv@1 calls=5 receives=5 received=50
// profile: Barrier@all calls=3
// profile: Finalize@all calls=1

#include <dlfcn.h>
#include <stdio.h>

typedef int Function();

static Function *find(void *library, const char *name)
{
    Function *found;
    *(void **)&found = dlsym(library, name);
    return found;
}

int main(int argc, char **argv)
{
    char text[10] = "123456789";
    int rank = -1;
    long status[8];
    void *mpi = argc > 1 ? dlopen(argv[1], RTLD_NOW | (argc > 2 ? RTLD_LOCAL : RTLD_GLOBAL)) : NULL;
    if (mpi == NULL)
        return 2;
    // MPICH's handles are numbers, Open MPI's are addresses of its variables.
    void *world = dlsym(mpi, "ompi_mpi_comm_world"), *byte = dlsym(mpi, "ompi_mpi_byte");
    if (world == NULL)
        world = (void *)0x44000000, byte = (void *)0x4c00010d;
    if (find(mpi, "MPI_Abi_get_version") != NULL || find(mpi, "MPI_Nothing") != NULL)
        return 3;
    find(mpi, "MPI_Init")(NULL, NULL);
    find(mpi, "MPI_Comm_rank")(world, &rank);
    for (int i = 0; i < 5; i++) {
        if (rank == 0)
            find(mpi, "MPI_Send")(text, 10, byte, 1, 1, world);
        else
            find(mpi, "MPI_Recv")(text, 10, byte, 0, 1, world, status);
    }
    for (int i = 0; i < 3; i++)
        find(mpi, "MPI_Barrier")(world);
    return find(mpi, "MPI_Finalize")();
}
