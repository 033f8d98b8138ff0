// Writes a line on standard output and one on standard error, and ends with code 3.

#include <stdio.h>

int main(void)
{
    puts("result 42");
    fputs("a warning of the program\n", stderr);
    return 3;
}
