/* Stands in front of the library of UCX, on which Debian's MPICH stands. A rank that waits asks UCX
   again and again whether something has come. On a machine with fewer processors than ranks it so
   keeps the processor from the rank it waits for, for whole slices of time. Here a rank that was
   told "no" many times in a row sleeps for a moment. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

enum { PATIENCE = 50 };

unsigned ucp_worker_progress(void *worker) {
    static unsigned (*progress)(void *);
    static _Thread_local unsigned idle;
    if (!progress)
        progress = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned done = progress(worker);
    if (done)
        idle = 0;
    else if (++idle >= PATIENCE)
        nanosleep(&(struct timespec){ .tv_nsec = 1000 }, 0);
    return done;
}
