#include <stdio.h>

int main(void)
{
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 42; i++)
        sum += 1;
    printf("answer %d\n", sum);
    return 0;
}
