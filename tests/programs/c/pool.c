/* Stores 100 times in each of four OpenMP threads; a library's constructor has started a
 * thread that stores 1000 times more. */
#include <omp.h>

volatile long first __attribute__((aligned(8)));
void pool_end(void);

int main(void)
{
    int threads = 0;
#pragma omp parallel num_threads(4) reduction(+ : threads)
    {
        for (int i = 0; i < 100; i++)
            first = i;
        threads++;
    }
    pool_end();
    return threads == 4 ? 0 : 1;
}
