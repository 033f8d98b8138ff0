// topas: compiler=gcc expect: lang=c end=exit:0 stdout="again"
//
// Becomes itself once more, in the same process: still the rank, and one line for it.

#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc == 1) {
        execl("/proc/self/exe", argv[0], "again", (char *)NULL);
        return 1;
    }
    puts(argv[1]);
    return 0;
}
