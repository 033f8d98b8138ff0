// events COUNT: opens so many events and closes them, which is the kernel's part of what a
// measuring rank costs.

#include "events.h"

int main(int argc, char **argv)
{
    int fds[MAX_EVENTS];
    int count = argc > 1 ? event_count(argv[1]) : 0;
    open_events(fds, count);
    for (int at = 0; at < count; at++)
        close(fds[at]);
    return 0;
}
