// Ends in the way and with the code its arguments name.

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *exit_in_thread(void *code)
{
    exit(*(int *)code);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 100;
    const char *way = argv[1];
    int code = atoi(argv[2]);
    if (strcmp(way, "exit") == 0)
        exit(code);
    if (strcmp(way, "_exit") == 0)
        _exit(code);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(way, "thread") == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, exit_in_thread, &code) != 0)
            return 101;
        pause();
    }
    return code;
}
