/* Stores a known number of times, so that the kernel's own breakpoints can count them:
 *
 *   stores OWN THREADS EACH CHILD PAGES
 *
 * into `first`, OWN times here, EACH times in each of THREADS threads, CHILD times in a
 * forked child; into `second` half as often; and touches PAGES fresh pages per thread of
 * execution. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

volatile long first __attribute__((aligned(8)));
volatile long second __attribute__((aligned(8)));
static long each, pages;

static void work(long times)
{
    for (long i = 0; i < times; i++)
        first = i;
    for (long i = 0; i < times / 2; i++)
        second = i;
    if (pages == 0)
        return;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        _exit(3);
    madvise(memory, pages * page, MADV_NOHUGEPAGE);
    for (long i = 0; i < pages; i++)
        ((volatile char *)memory)[i * page] = 1;
}

static void *thread(void *unused)
{
    work(each);
    return unused;
}

int main(int argc, char **argv)
{
    if (argc != 6)
        return 2;
    long threads = atol(argv[2]), child = atol(argv[4]);
    each = atol(argv[3]);
    pages = atol(argv[5]);
    pthread_t id[16];
    for (long i = 0; i < threads && i < 16; i++)
        if (pthread_create(&id[i], NULL, thread, NULL))
            return 4;
    work(atol(argv[1]));
    for (long i = 0; i < threads && i < 16; i++)
        pthread_join(id[i], NULL);
    if (child) {
        pid_t pid = fork();
        if (pid == 0) {
            work(child);
            return 0;
        }
        int status;
        if (waitpid(pid, &status, 0) != pid || status)
            return 5;
    }
    return 0;
}
