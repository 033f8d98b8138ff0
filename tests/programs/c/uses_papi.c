/* Counts 777 stores with PAPI, by an event that a test puts the kernel's own in place of. */
#include <papi.h>
#include <stdio.h>

volatile long first __attribute__((aligned(8)));

int main(void)
{
    int set = PAPI_NULL;
    long long value = -1;
    int version = PAPI_library_init(PAPI_VER_CURRENT) == PAPI_VER_CURRENT;
    int made = PAPI_create_eventset(&set);
    int added = PAPI_add_named_event(set, "RETIRED_INSTRUCTIONS");
    int started = PAPI_start(set);
    for (int i = 0; i < 777; i++)
        first = i;
    int stopped = PAPI_stop(set, &value);
    printf("%d %d %d %d %d: %lld\n", version, made, added, started, stopped, value);
    return 0;
}
