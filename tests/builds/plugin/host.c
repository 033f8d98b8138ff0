// Loads the plugins of its arguments, runs each, and unloads them in reverse.

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *plugins[8];
    for (int i = 1; i < argc && i < 8; i++) {
        plugins[i] = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (!plugins[i]) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        int (*run)(void) = (int (*)(void))dlsym(plugins[i], "run");
        if (run())
            return 2;
    }
    for (int i = argc - 1; i > 0; i--)
        dlclose(plugins[i]);
    puts(dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) ? "still there" : "unloaded");
    return 0;
}
