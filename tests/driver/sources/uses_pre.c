#include "pre.h"
#include <stdio.h>

int main(void)
{
    printf("answer %d\n", ANSWER);
    return 0;
}
