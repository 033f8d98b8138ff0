// Closes the descriptors that are out of the way and opens its own file in the number of
// the first. After all exit handlers the file must still be open, and nothing read from it.

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FIRST = 900, LAST = 1100 };

static int own = -1;

__attribute__((destructor(101))) static void check(void)
{
    char text[64];
    int length = snprintf(text, sizeof text, "open %d offset %ld\n", fcntl(own, F_GETFD) != -1,
                          (long)lseek(own, 0, SEEK_CUR));
    if (write(1, text, (size_t)length) != length)
        _exit(9);
}

int main(int argc, char **argv)
{
    int taken = -1;
    for (int fd = FIRST; fd < LAST; fd++)
        if (close(fd) == 0 && taken < 0)
            taken = fd;
    int fd = open(argc > 1 ? argv[1] : "/dev/null", O_RDONLY);
    own = dup2(fd, taken < 0 ? FIRST : taken);
    printf("%s\n", taken < 0 ? "none was open" : "took one");
    fflush(stdout);
    return fd >= 0 && own >= 0 ? 0 : 1;
}
