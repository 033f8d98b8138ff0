// pvm [wait]: a program that looks like one of PVM's to the module, because it has
// `pvm_mytid`. With `wait` it says that it has begun and goes on at the end of its input.

#include <string.h>
#include <unistd.h>

int pvm_mytid(void);

int pvm_mytid(void)
{
    return 0x40001;
}

int main(int argc, char **argv)
{
    char byte;
    if (argc > 1 && strcmp(argv[1], "wait") == 0) {
        if (write(1, "\n", 1) != 1)
            return 1;
        while (read(0, &byte, 1) > 0)
            continue;
    }
    return 0;
}
