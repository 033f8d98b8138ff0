// MPI in a plugin that is opened for itself only, by a program that has no MPI.
//
// profile: ranks=2
// profile: Init@all calls=1
// profile: Barrier@all calls=3
// profile: Allreduce@all calls=5 count=5
// profile: Finalize@all calls=1

#include <stddef.h>

#ifdef PLUGIN
#include <mpi.h>

int works(void)
{
    int one = 1, sum = 0, ranks;
    MPI_Init(NULL, NULL);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 3; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 5; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return sum == ranks ? 0 : 1;
}

#else
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (plugin == NULL) {
        puts(argc > 1 ? dlerror() : "which plugin?");
        return 2;
    }
    int (*works)(void);
    *(void **)&works = dlsym(plugin, "works");
    int failed = works();
    puts(failed ? "bad" : "good");
    return failed;
}
#endif
