// Events of software as stand-ins for those of a PMU: the kernel opens, inherits, switches
// and closes them in the same way, but writes no register of the processor.

#ifndef EVENTS_H
#define EVENTS_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_EVENTS 16

// Says what failed, and ends.
static inline void give_up(const char *what)
{
    perror(what);
    exit(1);
}

// Opens `count` events of this process as a measuring rank does: user mode, inherited, one
// group. The first descriptor is the group's leader.
static inline void open_events(int *fds, int count)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = PERF_ATTR_SIZE_VER0,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        .inherit = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    for (int at = 0; at < count; at++) {
        int leader = at == 0 ? -1 : fds[0];
        fds[at] = syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC, 0);
        if (fds[at] < 0)
            give_up("perf_event_open");
    }
}

// Ends with an error unless every event has counted: a cost without work is none.
static inline void check_events(const int *fds, int count)
{
    for (int at = 0; at < count; at++) {
        uint64_t value_enabled_running[3] = {0};
        if (read(fds[at], value_enabled_running, sizeof value_enabled_running) < 0)
            give_up("read of an event");
        if (value_enabled_running[0] == 0 || value_enabled_running[2] == 0) {
            fprintf(stderr, "event %d has counted nothing\n", at);
            exit(1);
        }
    }
}

// Number of events from the command line.
static inline int event_count(const char *word)
{
    int count = atoi(word);
    if (count < 0 || count > MAX_EVENTS) {
        fprintf(stderr, "not a number of events up to %d: %s\n", MAX_EVENTS, word);
        exit(1);
    }
    return count;
}

#endif
