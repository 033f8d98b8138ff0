/* A pool of one thread that is there before main, as numerical libraries have it. */
#include <pthread.h>

extern volatile long first;
static pthread_t thread;

static void *work(void *unused)
{
    for (int i = 0; i < 1000; i++)
        first = i;
    return unused;
}

__attribute__((constructor)) static void begin(void)
{
    pthread_create(&thread, NULL, work, NULL);
}

void pool_end(void)
{
    pthread_join(thread, NULL);
}
