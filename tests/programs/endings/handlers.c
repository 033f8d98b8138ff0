// Programs with dispositions of their own. Each handler says its name, so that what ran is
// seen beside how the program ended.

#define _GNU_SOURCE
#include "ways.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STACK = 65536, DEEP = 262144 };

static struct sigaction before;
static void (*simply_before)(int);
static sigjmp_buf back;

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(FAILED);
}

static void says_and_exits(int number)
{
    say("own handler\n");
    exit(number);
}

static void says_and_leaves(int number)
{
    say("own handler\n");
    _exit(number);
}

static void says(int number)
{
    (void)number;
    say("own handler\n");
}

static int with_handler(void (*handler)(int), int number)
{
    signal(number, handler);
    raise(number);
    return 0;
}

static int by_handler_that_exits(int number)
{
    return with_handler(says_and_exits, number);
}

static int by_handler_that_leaves(int number)
{
    return with_handler(says_and_leaves, number);
}

static int by_handler_that_returns(int number)
{
    return with_handler(says, number);
}

// Calls what was there before, as libraries do that share a signal.
static void chains(int number, siginfo_t *info, void *context)
{
    say("own handler\n");
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else if (before.sa_handler == SIG_DFL) {
        signal(number, SIG_DFL);
        raise(number);
    } else if (before.sa_handler != SIG_IGN)
        before.sa_handler(number);
}

static int chained(int number, int flags)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | flags};
    action.sa_sigaction = chains;
    sigaction(number, &action, &before);
    if (number == SIGSEGV)
        return by_segv(number);
    raise(number);
    say("still here\n");
    return 0;
}

static int by_chain(int number)
{
    return chained(number, 0);
}

// Once only: the handler runs with the default in place already.
static int by_chain_once(int number)
{
    return chained(number, SA_RESETHAND);
}

// The same by signal(), which cannot tell that the old handler takes three arguments.
static void chains_simply(int number)
{
    say("own handler\n");
    if (simply_before != SIG_DFL && simply_before != SIG_IGN)
        // Whatever stands in the registers of the other two.
        ((void (*)(int, long, long))(void *)simply_before)(number, 1, 3);
    else {
        signal(number, SIG_DFL);
        raise(number);
    }
}

static int by_chain_simply(int number)
{
    simply_before = signal(number, chains_simply);
    raise(number);
    say("still here\n");
    return 0;
}

// What is asked and put back is what was there.
static int by_handler_put_back(int number)
{
    struct sigaction own = {.sa_handler = says};
    sigaction(number, &own, &before);
    sigaction(number, &before, NULL);
    raise(number);
    return 0;
}

static int by_handler_set_to_default(int number)
{
    signal(number, SIG_DFL);
    raise(number);
    return 0;
}

static int by_ignoring(int number)
{
    signal(number, SIG_IGN);
    raise(number);
    say("still here\n");
    return 7;
}

// As shells and many daemons do: catch it only if it was not ignored.
static int by_catching_unless_ignored(int number)
{
    if (signal(number, SIG_IGN) != SIG_IGN)
        signal(number, says_and_exits);
    raise(number);
    say("still here\n");
    return 7;
}

static void jumps(int number)
{
    siglongjmp(back, number);
}

// A program that survives its own fault.
static int by_recovery(int number)
{
    signal(SIGSEGV, jumps);
    if (sigsetjmp(back, 1) == 0)
        return by_segv(number);
    say("recovered\n");
    return number;
}

// An overflow of the stack that the program catches on a stack of its own.
static int by_own_stack(int number)
{
    static char space[STACK];
    stack_t own = {.ss_sp = space, .ss_size = sizeof space};
    struct sigaction action = {.sa_handler = says_and_leaves, .sa_flags = SA_ONSTACK};
    if (sigaltstack(&own, NULL) != 0)
        return FAILED;
    sigaction(SIGSEGV, &action, NULL);
    return end_by("overflow", number);
}

static void needs_much_stack(int number)
{
    volatile char much[DEEP];
    for (int i = 0; i < DEEP; i += 64)
        much[i] = (char)number;
    say(much[DEEP / 2 / 64 * 64] == (char)number ? "own handler\n" : "memory changed\n");
}

// SA_ONSTACK without a stack: a handler that is ready for one, as in libraries that may
// be loaded by Go or Java, and takes as much of the ordinary stack as it likes.
static int by_deep_handler(int number)
{
    struct sigaction action = {.sa_handler = needs_much_stack, .sa_flags = SA_ONSTACK};
    sigaction(number, &action, NULL);
    raise(number);
    return 7;
}

// A stack for handlers, but no handler.
static int by_stack_without_handler(int number)
{
    static char space[STACK];
    stack_t own = {.ss_sp = space, .ss_size = sizeof space};
    if (sigaltstack(&own, NULL) != 0)
        return FAILED;
    return end_by("overflow", number);
}

// Set before all constructors and, by the order of objects, before the module looks.
static int set_early;

static void early(int argc, char **argv, char **environment)
{
    (void)environment;
    if (argc > 2 && strcmp(argv[1], "early_handler") == 0)
        set_early = signal(atoi(argv[2]), says_and_exits) == SIG_DFL;
    if (argc > 2 && strcmp(argv[1], "early_ignoring") == 0)
        set_early = signal(atoi(argv[2]), SIG_IGN) == SIG_DFL;
}

__attribute__((section(".preinit_array"), used)) static void (*const early_entry)(
    int, char **, char **) = early;

static int by_early_handler(int number)
{
    raise(number);
    return set_early ? 0 : FAILED;
}

static int by_early_ignoring(int number)
{
    raise(number);
    return set_early ? 7 : FAILED;
}

// Ignored by whoever started the program.
static int by_ignored(int number)
{
    struct sigaction now;
    sigaction(number, NULL, &now);
    if (now.sa_handler != SIG_IGN)
        return FAILED;
    raise(number);
    say("still here\n");
    return 7;
}

const struct way handler_ways[] = {
    {"handler_that_exits", by_handler_that_exits},
    {"handler_that_leaves", by_handler_that_leaves},
    {"handler_that_returns", by_handler_that_returns},
    {"chain", by_chain},
    {"chain_once", by_chain_once},
    {"chain_simply", by_chain_simply},
    {"handler_put_back", by_handler_put_back},
    {"handler_set_to_default", by_handler_set_to_default},
    {"ignoring", by_ignoring},
    {"catching_unless_ignored", by_catching_unless_ignored},
    {"recovery", by_recovery},
    {"own_stack", by_own_stack},
    {"deep_handler", by_deep_handler},
    {"stack_without_handler", by_stack_without_handler},
    {"early_handler", by_early_handler},
    {"early_ignoring", by_early_ignoring},
    {"ignored", by_ignored},
    {NULL, NULL},
};
