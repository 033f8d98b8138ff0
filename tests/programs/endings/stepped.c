// Runs the program of its arguments, which calls getsid and exits, again and again; sends it
// SIGALRM after each of the instructions from its last system call before it holds signals back,
// one further in each run. Writes how often it did. All runs have to end by that signal.

#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

// Lets it go on by a request of ptrace to its next stop.
static void go_on(int request, pid_t program)
{
    int status;
    if (ptrace(request, program, 0, 0) != 0)
        fail("ptrace");
    if (waitpid(program, &status, 0) != program || !WIFSTOPPED(status))
        fail("the program ended");
}

// Lets it go on to the beginning of its next system call; which one that is.
static unsigned long next_call(pid_t program)
{
    struct __ptrace_syscall_info call;
    do {
        go_on(PTRACE_SYSCALL, program);
        call.op = 0;
        ptrace(PTRACE_GET_SYSCALL_INFO, program, sizeof call, &call);
    } while (call.op != PTRACE_SYSCALL_INFO_ENTRY);
    return call.entry.nr;
}

// Starts the program, up to the beginning of its getsid.
static pid_t begin(char **words)
{
    int status;
    pid_t program = fork();
    if (program == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        execv(words[0], words);
        fail(words[0]);
    }
    if (program < 0 || waitpid(program, &status, 0) != program || !WIFSTOPPED(status))
        fail("begin");
    if (ptrace(PTRACE_SETOPTIONS, program, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD) != 0)
        fail("options");
    while (next_call(program) != SYS_getsid) {
    }
    return program;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    pid_t program = begin(argv + 1);
    int calls = 0, runs = 0, status;
    while (next_call(program) != SYS_rt_sigprocmask) calls++;
    kill(program, SIGKILL);
    waitpid(program, NULL, 0);
    for (unsigned long held = 0; (held >> (SIGALRM - 1) & 1) == 0; runs++) {
        program = begin(argv + 1);
        for (int call = 0; call < calls; call++) next_call(program);
        // To the end of the call, from there by instructions.
        go_on(PTRACE_SYSCALL, program);
        for (int step = 0; step < runs; step++) go_on(PTRACE_SINGLESTEP, program);
        if (ptrace(PTRACE_GETSIGMASK, program, sizeof held, &held) != 0)
            fail("mask");
        kill(program, SIGALRM);
        if (ptrace(PTRACE_DETACH, program, 0, 0) != 0)
            fail("detach");
        if (waitpid(program, &status, 0) != program || !WIFSIGNALED(status) ||
            WTERMSIG(status) != SIGALRM) {
            fprintf(stderr, "after %d instructions: status %x\n", runs, status);
            return 1;
        }
    }
    printf("%d\n", runs);
}
