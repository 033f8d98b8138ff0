#include <stdio.h>

/* More data than a distance of 31 bits can cross, in front of everybody else's. */
char shared[3000000000UL];
static char own[3000000000UL];

int main(void)
{
    own[2999999999UL] = 42;
    shared[1] = own[2999999999UL];
    printf("answer %d\n", shared[1]);
    return 0;
}
