// Opens libraries while it runs: each argument is one, closed at once if `-` stands before it. The
// last argument may be `fault`, and the rank then ends by SIGSEGV behind MPI.

#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "fault")) {
            // While MPI runs, its library for the topology may hold libraries open.
            MPI_Finalize();
            return raise(SIGSEGV);
        }
        int closes = *argv[i] == '-';
        void *library = dlopen(argv[i] + closes, RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            puts(dlerror());
            return 1;
        }
        if (closes)
            dlclose(library);
    }
    return MPI_Finalize();
}
