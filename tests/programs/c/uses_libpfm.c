/* Counts 777 stores itself, by an encoding of libpfm4 that a test puts the kernel's own event
 * in place of. */
#define _GNU_SOURCE
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

volatile long first __attribute__((aligned(8)));

int main(void)
{
    struct perf_event_attr attr;
    long long value = -1;
    memset(&attr, 0, sizeof attr);
    pfm_perf_encode_arg_t arg = {.attr = &attr, .size = sizeof arg};
    int ready = pfm_initialize();
    int known = pfm_get_os_event_encoding("RETIRED_INSTRUCTIONS", PFM_PLM3,
                                          PFM_OS_PERF_EVENT_EXT, &arg);
    attr.exclude_kernel = 1;
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
    for (int i = 0; i < 777; i++)
        first = i;
    int size = (int)read(fd, &value, sizeof value);
    printf("%d %d %d %d: %lld\n", ready, known, fd, size, value);
    return 0;
}
