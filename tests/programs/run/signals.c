// Waits for signals and names each that comes: `signal N` and the value that was queued with it,
// until SIGTERM, with which it ends by code 7. Says `ready` first.

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    sigset_t all;
    siginfo_t about;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    for (;;) {
        int signal = sigwaitinfo(&all, &about);
        if (signal < 0)
            continue;
        printf("signal %d %d\n", signal, about.si_code == SI_QUEUE ? about.si_value.sival_int : 0);
        fflush(stdout);
        if (signal == SIGTERM)
            return 7;
    }
}
