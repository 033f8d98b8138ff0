// Other programs in place of this one, and children.

#define _GNU_SOURCE
#include "ways.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FEW_BYTES = 64 };

static int by_exec_other(int number)
{
    char text[FEW_BYTES];
    snprintf(text, sizeof text, "exit %d", number);
    execl("/bin/sh", "sh", "-c", text, (char *)NULL);
    return FAILED;
}

static int by_failed_exec(int number)
{
    execl("/nonexistent", "nonexistent", (char *)NULL);
    return number;
}

static int by_exec_self(int number)
{
    char text[FEW_BYTES];
    snprintf(text, sizeof text, "%d", number);
    execl("/proc/self/exe", "./program", "exit", text, (char *)NULL);
    return FAILED;
}

static int by_exec_self_segv(int number)
{
    (void)number;
    execl("/proc/self/exe", "./program", "segv", "1", (char *)NULL);
    return FAILED;
}

// A child that ends in `function`; says on standard error what became of it.
static int after_child(way_function *function, int number)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(function(number));
    if (child < 0 || waitpid(child, &status, 0) != child)
        return FAILED;
    fprintf(stderr, "child: exited %d code %d signal %d core %d\n", WIFEXITED(status),
            WIFEXITED(status) ? WEXITSTATUS(status) : 0,
            WIFSIGNALED(status) ? WTERMSIG(status) : 0,
            WIFSIGNALED(status) && WCOREDUMP(status));
    return number;
}

static int by_fork_exit(int number)
{
    return after_child(by_exit, number);
}

static int by_fork_segv(int number)
{
    return after_child(by_segv, number);
}

static int by_fork_abort(int number)
{
    return after_child(by_abort, number);
}

static int raise_term(int number)
{
    (void)number;
    return by_raise(SIGTERM);
}

static int by_fork_term(int number)
{
    return after_child(raise_term, number);
}

static int raise_kill(int number)
{
    (void)number;
    return by_raise(SIGKILL);
}

static int by_fork_kill(int number)
{
    return after_child(raise_kill, number);
}

// A signal for the whole process group, of which a child is a part.
static int by_group_term(int number)
{
    pid_t child = fork();
    if (child == 0)
        wait_to_be_killed();
    usleep(1000);
    kill(0, SIGTERM);
    return number;
}

static int child_is_parent(int number)
{
    usleep(50000);
    return number;
}

// The parent goes, the child stays a while.
static int by_parent_exit(int number)
{
    if (fork() == 0)
        exit(child_is_parent(number + 1));
    exit(number);
}

extern char **environ;

static int shows(const char *how, pid_t child)
{
    int status = -1;
    waitpid(child, &status, 0);
    fprintf(stderr, "%s %d\n", how, status);
    return status;
}

// Signals of children, however they are started: what execve leaves of handlers.
static int by_children(int number)
{
    static const char script[] = "grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status >&2";
    char *words[] = {"sh", "-c", (char *)script, NULL};
    pid_t child;
    int failed = system(script);
    failed |= posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ);
    failed |= shows("posix_spawn", child);
    child = vfork();
    if (child == 0) {
        execv("/bin/sh", words);
        _exit(FAILED);
    }
    failed |= shows("vfork", child);
    child = fork();
    if (child == 0) {
        execv("/bin/sh", words);
        _exit(FAILED);
    }
    failed |= shows("fork", child);
    return failed == 0 ? number : FAILED;
}

const struct way child_ways[] = {
    {"exec_other", by_exec_other},
    {"failed_exec", by_failed_exec},
    {"exec_self", by_exec_self},
    {"exec_self_segv", by_exec_self_segv},
    {"fork_exit", by_fork_exit},
    {"fork_segv", by_fork_segv},
    {"fork_abort", by_fork_abort},
    {"fork_term", by_fork_term},
    {"fork_kill", by_fork_kill},
    {"group_term", by_group_term},
    {"parent_exit", by_parent_exit},
    {"children", by_children},
    {NULL, NULL},
};
