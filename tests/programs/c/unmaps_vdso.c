// Takes away the object that the kernel maps into each process (the vDSO), of which the loader goes
// on to know: so is a process that was restored from a checkpoint.

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    unsigned long begin = 0, end = 0;
    while (fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, "[vdso]") != NULL)
            sscanf(line, "%lx-%lx", &begin, &end);
    fclose(maps);
    if (end == 0 || munmap((void *)begin, end - begin) != 0)
        return 1;
    puts("result 42");
    fputs("a warning of the program\n", stderr);
    return 3;
}
