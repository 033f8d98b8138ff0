// Writes its environment: the number of entries, 4 bytes in the order of this machine, and the
// entries with their final NULs.

#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern char **environ;

int main(void)
{
    uint32_t count = 0;
    while (environ[count] != NULL)
        count++;
    fwrite(&count, sizeof count, 1, stdout);
    for (uint32_t i = 0; i < count; i++)
        fwrite(environ[i], strlen(environ[i]) + 1, 1, stdout);
    return fflush(stdout) != 0;
}
