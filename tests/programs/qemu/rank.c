/* Executes two instructions per round: ROUNDS here, EACH in each of THREADS threads. */
#include <pthread.h>
#include <stdlib.h>

static long each;

static void rounds(long n)
{
    if (n > 0)
        __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
}

static void *thread(void *unused)
{
    rounds(each);
    return unused;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    long threads = atol(argv[2]);
    each = atol(argv[3]);
    pthread_t id[8];
    for (long i = 0; i < threads && i < 8; i++)
        if (pthread_create(&id[i], NULL, thread, NULL))
            return 3;
    rounds(atol(argv[1]));
    for (long i = 0; i < threads && i < 8; i++)
        pthread_join(id[i], NULL);
    return 0;
}
