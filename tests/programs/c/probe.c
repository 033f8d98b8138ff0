// Prints what a program can notice of its process: errno at the start of main, open
// descriptors below 1000 and the next free one, signal dispositions and mask, rand(),
// umask, resource limits, arguments and environment.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OUT_OF_THE_WAY = 1000, MOST_FDS = 256 };

extern char **environ;

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void descriptors(void)
{
    int fds[MOST_FDS], count = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (dir == NULL)
        exit(1);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL && count < MOST_FDS;) {
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] != '.' && fd < OUT_OF_THE_WAY && fd != dirfd(dir))
            fds[count++] = fd;
    }
    closedir(dir);
    qsort(fds, (size_t)count, sizeof fds[0], by_value);
    for (int i = 0; i < count; i++)
        printf("fd %d flags %d\n", fds[i], fcntl(fds[i], F_GETFD));
    int next = open("/dev/null", O_RDONLY);
    printf("next fd %d\n", next);
    close(next);
}

static void signals(void)
{
    sigset_t mask, pending;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    sigpending(&pending);
    for (int signal = 1; signal <= 64; signal++) {
        struct sigaction action;
        if (sigaction(signal, NULL, &action) != 0)
            continue;
        const char *what = action.sa_handler == SIG_DFL   ? "default"
                           : action.sa_handler == SIG_IGN ? "ignored"
                                                          : "handler";
        printf("signal %d %s flags %#x blocked %d pending %d\n", signal, what, action.sa_flags,
               sigismember(&mask, signal), sigismember(&pending, signal));
    }
    stack_t stack;
    sigaltstack(NULL, &stack);
    printf("signal stack flags %d\n", stack.ss_flags);
}

static void limits(void)
{
    for (int resource = 0; resource < RLIM_NLIMITS; resource++) {
        struct rlimit limit;
        if (getrlimit(resource, &limit) == 0)
            printf("limit %d %llu %llu\n", resource, (unsigned long long)limit.rlim_cur,
                   (unsigned long long)limit.rlim_max);
    }
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    mode_t mask = umask(0);
    printf("umask %o dumpable %d name %s\n", (unsigned)mask, prctl(PR_GET_DUMPABLE), name);
}

int main(int argc, char **argv)
{
    int at_start = errno;
    printf("errno %d\n", at_start);
    descriptors();
    signals();
    limits();
    for (int i = 0; i < 5; i++)
        printf("rand %d random %ld drand48 %.17g\n", rand(), random(), drand48());
    for (int i = 0; i < argc; i++)
        printf("argument %s\n", argv[i]);
    for (char **entry = environ; *entry != NULL; entry++)
        printf("environment %s\n", *entry);
    return 42;
}
