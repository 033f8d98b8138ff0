// Runs a command once in each environment of a file, byte for byte as it stands there, one
// after the other. In the file an environment is the number of its entries, 4 bytes in the order
// of this machine, and the entries with their final NULs.

#define _GNU_SOURCE
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

int main(int argc, char **argv)
{
    static char text[64 << 20];
    FILE *file = argc > 2 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL)
        return 1;
    char *at = text, *end = text + fread(text, 1, sizeof text, file);
    while (at < end) {
        uint32_t count;
        int status;
        pid_t child;
        memcpy(&count, at, sizeof count);
        at += sizeof count;
        char **environment = calloc(count + 1, sizeof *environment);
        if (environment == NULL)
            return 1;
        for (uint32_t i = 0; i < count; i++, at += strlen(at) + 1)
            environment[i] = at;
        if (posix_spawn(&child, argv[2], NULL, NULL, argv + 2, environment) != 0 ||
            waitpid(child, &status, 0) != child || status != 0)
            return 2;
        free(environment);
    }
    return 0;
}
