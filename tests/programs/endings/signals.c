// Signals that come from timers, limits, other threads or other processes, and at
// awkward moments.

#define _GNU_SOURCE
#include "ways.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sink;

// The limit of CPU time: as batch systems set it.
static int by_cpu_limit(int number)
{
    struct rlimit limit = {.rlim_cur = 1, .rlim_max = 3};
    if (setrlimit(RLIMIT_CPU, &limit) != 0)
        return FAILED;
    // On one line, so that every backtrace names it.
    for (;;) sink = number;
}

// Beyond a limit that no log reaches.
static int by_file_limit(int number)
{
    struct rlimit limit = {.rlim_cur = 1 << 20, .rlim_max = RLIM_INFINITY};
    FILE *file = tmpfile();
    if (file == NULL || setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return FAILED;
    return pwrite(fileno(file), &number, sizeof number, 1 << 20) < 0 ? FAILED : number;
}

static int by_pipe(int number)
{
    int ends[2];
    if (pipe(ends) != 0)
        return FAILED;
    close(ends[0]);
    return write(ends[1], &number, sizeof number) > 0 ? FAILED : number;
}

static int by_timer(int number)
{
    struct itimerval soon = {.it_value = {.tv_usec = 1000}};
    if (setitimer(number == SIGALRM ? ITIMER_REAL : ITIMER_PROF, &soon, NULL) != 0)
        return FAILED;
    for (;;)
        sink = number;
}

// A signal to the process while all its threads compute.
static void *computes(void *unused)
{
    for (;;)
        sink++;
    return unused;
}

static int by_signal_to_threads(int number)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, computes, NULL) != 0)
            return FAILED;
    usleep(1000);
    kill(getpid(), number);
    return wait_to_be_killed();
}

static pthread_barrier_t together;

static void *faults_together(void *unused)
{
    pthread_barrier_wait(&together);
    by_segv(1);
    return unused;
}

// Two threads fault at once: one line, not two.
static int by_two_faults(int number)
{
    pthread_t threads[2];
    (void)number;
    pthread_barrier_init(&together, NULL, 2);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, faults_together, NULL) != 0)
            return FAILED;
    return wait_to_be_killed();
}

static int number_at_exit;

static void raises_at_exit(void)
{
    raise(number_at_exit);
}

static int by_signal_in_exit_handler(int number)
{
    number_at_exit = number;
    atexit(raises_at_exit);
    exit(0);
}

// A signal that comes at a random moment near the end, so in the module's own work, too.
static int by_signal_near_end(int number)
{
    struct itimerval soon = {.it_value = {.tv_usec = number}};
    if (setitimer(ITIMER_REAL, &soon, NULL) != 0)
        return FAILED;
    exit(0);
}

// By a call that a tracer knows: nothing else makes it.
static int by_marked_exit(int number)
{
    getsid(0);
    exit(number);
}

static int by_blocked_signal(int number)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    sigprocmask(SIG_BLOCK, &one, NULL);
    raise(number);
    fprintf(stderr, "still here\n");
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    return FAILED;
}

static int by_sigwait(int number)
{
    sigset_t one;
    int got = 0;
    sigemptyset(&one);
    sigaddset(&one, number);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    kill(getpid(), number);
    return sigwait(&one, &got) == 0 && got == number ? 7 : FAILED;
}

// Stopped, and continued by a child.
static int by_stop(int number)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        usleep(20000);
        kill(getppid(), SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
    return waitpid(child, &status, 0) == child ? number : FAILED;
}

const struct way signal_ways[] = {
    {"cpu_limit", by_cpu_limit},
    {"file_limit", by_file_limit},
    {"pipe", by_pipe},
    {"timer", by_timer},
    {"signal_to_threads", by_signal_to_threads},
    {"two_faults", by_two_faults},
    {"signal_in_exit_handler", by_signal_in_exit_handler},
    {"signal_near_end", by_signal_near_end},
    {"marked_exit", by_marked_exit},
    {"blocked_signal", by_blocked_signal},
    {"sigwait", by_sigwait},
    {"stop_and_continue", by_stop},
    {NULL, NULL},
};
