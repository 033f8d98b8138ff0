// Runs ./program WORDS once in each environment of a file, byte for byte as it stands there:
// names twice, entries without '=', empty ones. In the file an environment is the number of
// its entries, 4 bytes in the order of this machine, and the entries with their final NULs.
// For each one line: wait status, number of bytes the program wrote, and the first of them in
// hexadecimal digits.

#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *read_all(const char *name, size_t *size)
{
    struct stat stat;
    int file = open(name, O_RDONLY);
    if (file < 0 || fstat(file, &stat) != 0)
        exit(1);
    *size = (size_t)stat.st_size;
    char *text = malloc(*size + 1);
    if (text == NULL || read(file, text, *size) != stat.st_size)
        exit(1);
    close(file);
    return text;
}

static void run(char **words, char **environment)
{
    unsigned char said[512];
    int status, file = open("output", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
    struct stat written;
    pid_t child;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, file, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, file, STDERR_FILENO);
    posix_spawn_file_actions_addclose(&actions, file);
    if (posix_spawn(&child, "./program", &actions, NULL, words, environment) != 0)
        exit(1);
    posix_spawn_file_actions_destroy(&actions);
    if (waitpid(child, &status, 0) != child || fstat(file, &written) != 0)
        exit(1);
    ssize_t length = pread(file, said, sizeof said, 0);
    close(file);
    printf("%d %lld ", status, (long long)written.st_size);
    for (ssize_t i = 0; i < length; i++)
        printf("%02x", said[i]);
    printf("\n");
}

int main(int argc, char **argv)
{
    size_t size;
    if (argc < 2)
        return 1;
    char *text = read_all(argv[1], &size), *end = text + size;
    char **words = argv + 1;
    words[0] = "./program";
    while (text < end) {
        uint32_t count;
        memcpy(&count, text, sizeof count);
        text += sizeof count;
        char **environment = calloc(count + 1, sizeof *environment);
        if (environment == NULL)
            return 1;
        for (uint32_t i = 0; i < count; i++, text += strlen(text) + 1)
            environment[i] = text;
        run(words, environment);
        free(environment);
    }
    return 0;
}
