// topas: compiler=gcc expect: lang=c lib=- end=exit:0 stdout="closed"
//
// Closes every descriptor from 3 on, as programs do that become daemons, and uses one of
// the numbers for a file of its own.

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    for (int fd = 3; fd < 1100; fd++)
        close(fd);
    int fd = open("/dev/null", O_WRONLY);
    if (fd != 3 || dup2(fd, 1008) != 1008)
        return 1;
    puts("closed");
    return 0;
}
