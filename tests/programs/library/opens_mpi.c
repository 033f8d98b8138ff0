// Opens the MPI library named by its argument while it runs, for itself only, as Python does.

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        puts(argc > 1 ? dlerror() : "which library?");
        return 1;
    }
    int (*init)(int *, char ***);
    int (*finalize)(void);
    *(void **)&init = dlsym(library, "MPI_Init");
    *(void **)&finalize = dlsym(library, "MPI_Finalize");
    return init(NULL, NULL) || finalize();
}
