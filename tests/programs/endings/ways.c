// Ends without signals, faults, and what a program raises itself.

#define _GNU_SOURCE
#include "ways.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Only the overflow of the stack shall recur for ever.
#pragma GCC diagnostic ignored "-Winfinite-recursion"

enum { PAGE = 4096, PATIENCE_S = 20 };

static int number_for_threads;
// Volatile, so that the compiler cannot foresee what happens.
static int *volatile nowhere = NULL;
static volatile int zero = 0;
static volatile int sink;

int wait_to_be_killed(void)
{
    for (int second = 0; second < PATIENCE_S; second++)
        sleep(1);
    _exit(FAILED);
}

static int by_return(int number)
{
    return number;
}

int by_exit(int number)
{
    exit(number);
}

static int by__exit(int number)
{
    _exit(number);
}

static int by__Exit(int number)
{
    _Exit(number);
}

static int by_quick_exit(int number)
{
    quick_exit(number);
}

static void *exits(void *unused)
{
    (void)unused;
    exit(number_for_threads);
}

static int in_thread(void *(*function)(void *), int number)
{
    pthread_t thread;
    number_for_threads = number;
    if (pthread_create(&thread, NULL, function, NULL) != 0)
        return FAILED;
    return wait_to_be_killed();
}

static int by_thread_exit(int number)
{
    return in_thread(exits, number);
}

static void *sleeps_a_little(void *unused)
{
    usleep(2000);
    return unused;
}

// The last thread to end ends the process, with 0.
static int by_pthread_exit(int number)
{
    pthread_t thread;
    (void)number;
    if (pthread_create(&thread, NULL, sleeps_a_little, NULL) != 0)
        return FAILED;
    pthread_exit(NULL);
}

int by_raise(int number)
{
    raise(number);
    return 0;
}

static int by_kill(int number)
{
    kill(getpid(), number);
    return 0;
}

// With a value, which a core dump must still show.
static int by_sigqueue(int number)
{
    sigqueue(getpid(), number, (union sigval){.sival_int = 4711});
    return 0;
}

int by_segv(int number)
{
    *nowhere = number;
    return FAILED;
}

static void *faults(void *unused)
{
    *nowhere = 1;
    return unused;
}

static int by_thread_segv(int number)
{
    return in_thread(faults, number);
}

static int by_fpe(int number)
{
    sink = (number + 1) / zero;
    // Processors that do not trap.
    raise(SIGFPE);
    return FAILED;
}

static int by_ill(int number)
{
    (void)number;
    __builtin_trap();
}

static int by_bus(int number)
{
    FILE *file = tmpfile();
    if (file == NULL)
        return FAILED;
    volatile int *map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fileno(file), 0);
    return map == MAP_FAILED ? FAILED : map[number];
}

// Deep enough for every limit of the stack.
static int deeper(volatile int *above)
{
    volatile int page[PAGE];
    page[0] = *above + 1;
    return deeper(page) + page[0];
}

static int by_overflow(int number)
{
    return deeper(&number);
}

int by_abort(int number)
{
    (void)number;
    abort();
}

static void *aborts(void *unused)
{
    (void)unused;
    abort();
}

static int by_thread_abort(int number)
{
    return in_thread(aborts, number);
}

static int by_assert(int number)
{
    assert(number == zero - 1);
    return FAILED;
}

const struct way plain_ways[] = {
    {"return", by_return},
    {"exit", by_exit},
    {"_exit", by__exit},
    {"_Exit", by__Exit},
    {"quick_exit", by_quick_exit},
    {"thread_exit", by_thread_exit},
    {"pthread_exit", by_pthread_exit},
    {"raise", by_raise},
    {"kill", by_kill},
    {"sigqueue", by_sigqueue},
    {"segv", by_segv},
    {"thread_segv", by_thread_segv},
    {"fpe", by_fpe},
    {"ill", by_ill},
    {"bus", by_bus},
    {"overflow", by_overflow},
    {"abort", by_abort},
    {"thread_abort", by_thread_abort},
    {"assert", by_assert},
    {NULL, NULL},
};

int end_by(const char *way, int number)
{
    // Programs without MPI have no ways of MPI.
    const struct way *const tables[] = {plain_ways, signal_ways, handler_ways, child_ways,
                                        launched_ways};
    for (int table = 0; table < 5 && tables[table] != NULL; table++)
        for (const struct way *known = tables[table]; known->name != NULL; known++)
            if (strcmp(known->name, way) == 0)
                return known->function(number);
    return UNKNOWN;
}
