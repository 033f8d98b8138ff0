/* Marks a region for LIKWID. */
#include <likwid.h>
#include <stdio.h>

int main(void)
{
    likwid_markerInit();
    printf("start %d\n", likwid_markerStartRegion("region"));
    printf("stop %d\n", likwid_markerStopRegion("region"));
    likwid_markerClose();
    return 0;
}
