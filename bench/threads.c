// threads EVENTS COUNT: nanoseconds to create and join a thread, with so many inherited
// events of its own.

#include "events.h"

#include <pthread.h>
#include <time.h>

static void *nothing(void *argument)
{
    return argument;
}

int main(int argc, char **argv)
{
    int fds[MAX_EVENTS];
    struct timespec begun, ended;
    if (argc != 3)
        return 2;
    int events = event_count(argv[1]);
    long count = atol(argv[2]);
    open_events(fds, events);
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (long at = 0; at < count; at++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
            give_up("a thread");
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    check_events(fds, events);
    printf("%ld\n",
           ((ended.tv_sec - begun.tv_sec) * 1000000000 + ended.tv_nsec - begun.tv_nsec) / count);
    return 0;
}
