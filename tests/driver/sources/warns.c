#include <stdio.h>

int main(void)
{
    int unused = 1;
    puts("answer 42");
}
