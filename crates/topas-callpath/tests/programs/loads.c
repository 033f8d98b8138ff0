/* Loads and unloads libraries by the names given, again and again. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
void check(void);
int main(int argc, char **argv) {
    for (int i = 0; i < 60; i++) {
        void *handle = dlopen(argv[1 + i % (argc - 1)], RTLD_NOW);
        if (!handle) return puts(dlerror()), 1;
        int (*part)(int) = (int (*)(int))dlsym(handle, "part");
        part(i % 7);
        dlclose(handle);
        check();
    }
    return 0;
}
