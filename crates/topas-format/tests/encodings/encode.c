/* Prints the raw encoding of each event named on standard input, by libpfm4: the event,
 * perf_event_attr.type, perf_event_attr.config in hexadecimal; or the event and "error". */
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char event[256];
    setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
    if (pfm_initialize() != PFM_SUCCESS)
        return 2;
    while (fgets(event, sizeof event, stdin)) {
        struct perf_event_attr attr;
        pfm_perf_encode_arg_t arg;
        event[strcspn(event, "\n")] = 0;
        memset(&attr, 0, sizeof attr);
        memset(&arg, 0, sizeof arg);
        arg.attr = &attr;
        arg.size = sizeof arg;
        if (pfm_get_os_event_encoding(event, PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg) == PFM_SUCCESS)
            printf("%s %u %llx\n", event, attr.type, (unsigned long long)attr.config);
        else
            printf("%s error\n", event);
    }
    return 0;
}
