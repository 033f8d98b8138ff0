// Waits until its standard input ends, then ends: with the status of its first argument, by the
// signal of its second. What it reads before is ignored.

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char byte;
    while (read(0, &byte, 1) > 0)
        ;
    if (argc > 2)
        raise(atoi(argv[2]));
    return argc > 1 ? atoi(argv[1]) : 0;
}
