// Ends with 4 under a seccomp filter that allows a few calls and takes an action on all others:
// ACTION process|thread|trap|errno|strict, WHO main|library|NAME, where NAME is a program that
// becomes this one's successor under a filter for what a loader calls, too.

#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SECCOMP_RET_KILL_PROCESS
#define SECCOMP_RET_KILL_PROCESS 0x80000000u
#endif

#define ALLOW(call)                                    \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static const struct sock_filter few[] = {
    ALLOW(SYS_read), ALLOW(SYS_write), ALLOW(SYS_exit), ALLOW(SYS_exit_group), ALLOW(SYS_rt_sigreturn),
};

static const struct sock_filter loading[] = {
    ALLOW(SYS_execve), ALLOW(SYS_brk), ALLOW(SYS_mmap), ALLOW(SYS_munmap), ALLOW(SYS_mprotect),
    ALLOW(SYS_openat), ALLOW(SYS_newfstatat), ALLOW(SYS_fstat), ALLOW(SYS_close), ALLOW(SYS_pread64),
    ALLOW(SYS_set_tid_address), ALLOW(SYS_set_robust_list), ALLOW(SYS_prlimit64),
    ALLOW(SYS_getrandom), ALLOW(SYS_faccessat),
#ifdef SYS_access
    ALLOW(SYS_access), ALLOW(SYS_arch_prctl),
#endif
#ifdef SYS_rseq
    ALLOW(SYS_rseq),
#endif
};

#ifdef LIBRARY
int confine(unsigned action, int loads)
#else
static int confine(unsigned action, int loads)
#endif
{
    struct sock_filter code[100];
    size_t count = 0;
    code[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    memcpy(code + count, few, sizeof few);
    count += sizeof few / sizeof *few;
    if (loads) {
        memcpy(code + count, loading, sizeof loading);
        count += sizeof loading / sizeof *loading;
    }
    code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
    struct sock_fprog program = {(unsigned short)count, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#ifndef LIBRARY
int library_confines(unsigned action, int loads);

int main(int count, char **words)
{
    if (count == 1)
        return 4;
    if (count != 3)
        return 1;
    unsigned action = !strcmp(words[1], "process") ? SECCOMP_RET_KILL_PROCESS
        : !strcmp(words[1], "thread")              ? SECCOMP_RET_KILL
        : !strcmp(words[1], "trap")                ? SECCOMP_RET_TRAP
                                                   : SECCOMP_RET_ERRNO | EPERM;
    if (!strcmp(words[1], "strict")) {
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        syscall(SYS_exit, 4);
    }
    int loads = words[2][0] == '/';
    int failed = !strcmp(words[2], "library") ? library_confines(action, 0) : confine(action, loads);
    if (failed)
        return 2;
    if (loads) {
        execl(words[2], words[2], (char *)0);
        return 3;
    }
    // Of this process, in which another call would be punished.
    write(1, "confined\n", 9);
    return 4;
}
#else
int library_confines(unsigned action, int loads)
{
    return confine(action, loads);
}
#endif
