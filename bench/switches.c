// switches EVENTS COUNT stranger|child: nanoseconds of a context switch, from round trips of
// one byte between two processes on one CPU. The other process has no events (`stranger`),
// or has inherited ours (`child`).

#define _GNU_SOURCE
#include "events.h"

#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

int main(int argc, char **argv)
{
    int fds[MAX_EVENTS], there[2], back[2], status;
    struct timespec begun, ended;
    cpu_set_t allowed, one;
    char byte = 0;
    if (argc != 4)
        return 2;
    int events = event_count(argv[1]);
    long count = atol(argv[2]);
    int inherits = strcmp(argv[3], "child") == 0;

    // The first CPU we may use.
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        give_up("sched_getaffinity");
    int cpu = 0;
    while (!CPU_ISSET(cpu, &allowed))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        give_up("sched_setaffinity");
    if (pipe(there) != 0 || pipe(back) != 0)
        give_up("pipe");

    if (inherits)
        open_events(fds, events);
    pid_t other = fork();
    if (other < 0)
        give_up("fork");
    if (other == 0) {
        for (long at = 0; at < count; at++)
            if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
                _exit(1);
        _exit(0);
    }
    if (!inherits)
        open_events(fds, events);
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (long at = 0; at < count; at++)
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
            give_up("round trip");
    clock_gettime(CLOCK_MONOTONIC, &ended);
    if (waitpid(other, &status, 0) != other || status != 0) {
        fprintf(stderr, "the other process failed\n");
        return 1;
    }
    check_events(fds, events);
    // Two switches make a round trip.
    printf("%ld\n", ((ended.tv_sec - begun.tv_sec) * 1000000000 + ended.tv_nsec - begun.tv_nsec) /
                        (2 * count));
    return 0;
}
