// Linked into a program, turns every event it opens into one of software if the environment
// has AS_SOFTWARE, before the module opens its own: so a machine without a PMU can tell what
// open events cost. Each open goes through one signal, in programs with the module and
// without.

#define _GNU_SOURCE
#include "events.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <ucontext.h>

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#define ARGUMENT(context, n) \
    ((context)->uc_mcontext.gregs[(const int[]){REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8}[n]])
#define RESULT(context) ((context)->uc_mcontext.gregs[REG_RAX])
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#define ARGUMENT(context, n) ((context)->uc_mcontext.regs[n])
#define RESULT(context) ((context)->uc_mcontext.regs[0])
#else
#error "registers of this processor are not known here"
#endif

// Marks an open that may pass, in the argument that the call does not have.
#define PASS 0x746f7061L

#define SECCOMP_DATA(field) (offsetof(struct seccomp_data, field))

// The kernel's own call, without errno: the process may not have one yet.
static long perf_event_open(const void *attr, long pid, long cpu, long group, long flags)
{
#if defined(__x86_64__)
    register long d __asm__("r10") = group;
    register long e __asm__("r8") = flags;
    register long f __asm__("r9") = PASS;
    long result = SYS_perf_event_open;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(attr), "S"(pid), "d"(cpu), "r"(d), "r"(e), "r"(f)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long number __asm__("x8") = SYS_perf_event_open;
    register long result __asm__("x0") = (long)attr;
    register long b __asm__("x1") = pid;
    register long c __asm__("x2") = cpu;
    register long d __asm__("x3") = group;
    register long e __asm__("x4") = flags;
    register long f __asm__("x5") = PASS;
    __asm__ volatile("svc 0"
                     : "+r"(result)
                     : "r"(number), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f)
                     : "memory");
    return result;
#endif
}

static void on_open(int signal, siginfo_t *info, void *interrupted)
{
    ucontext_t *context = interrupted;
    struct perf_event_attr attr;
    (void)signal;
    (void)info;
    // Not in place: the program may hold it in memory that cannot be written.
    memset(&attr, 0, sizeof attr);
    memcpy(&attr, (const void *)ARGUMENT(context, 0), PERF_ATTR_SIZE_VER0);
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_TASK_CLOCK;
    attr.size = PERF_ATTR_SIZE_VER0;
    RESULT(context) = perf_event_open(&attr, ARGUMENT(context, 1), ARGUMENT(context, 2),
                                      ARGUMENT(context, 3), ARGUMENT(context, 4));
}

static int is_wanted(char **environment)
{
    // getenv does not work yet.
    for (; *environment; environment++)
        if (strncmp(*environment, "AS_SOFTWARE=", strlen("AS_SOFTWARE=")) == 0)
            return 1;
    return 0;
}

static void before_the_module(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    if (!is_wanted(environment))
        return;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SECCOMP_DATA(arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SECCOMP_DATA(nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SECCOMP_DATA(args[5])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PASS, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    struct sigaction action = {.sa_sigaction = on_open, .sa_flags = SA_SIGINFO};
    // Only root can set a filter without the promise to take no new privileges, and the module
    // measures nothing where both are there.
    if (sigaction(SIGSYS, &action, NULL) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(1);
}

// In front of the module's entry, because this file stands in front of it on the link line.
__attribute__((section(".preinit_array"), used)) static void (*const entry)(
    int, char **, char **) = before_the_module;
