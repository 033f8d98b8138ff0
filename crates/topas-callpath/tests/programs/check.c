/* Compares a walk with that of glibc, from the caller of `check` on. The end of the program tells
 * how many walks there were, how many differ, how many were cut, and how many were also found by
 * trails. */
#define _GNU_SOURCE
#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>

int topas_walk(uintptr_t *frames, int room, uintptr_t end);
long topas_trails(void);

static long walks, differ, cut;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread uintptr_t end_of_stack;

static uintptr_t end(void) {
    if (!end_of_stack) {
        pthread_attr_t attr;
        void *start;
        size_t size;
        pthread_getattr_np(pthread_self(), &attr);
        pthread_attr_getstack(&attr, &start, &size);
        pthread_attr_destroy(&attr);
        end_of_stack = (uintptr_t)start + size;
    }
    return end_of_stack;
}

__attribute__((noinline)) void check(void) {
    void *theirs[64];
    uintptr_t ours[64];
    int n = backtrace(theirs, 64);
    int told = topas_walk(ours, 64, end());
    int m = told & 0xffff, whole = !(told >> 29);
    /* Both were called from here, from two places. On x86-64 glibc tells one more: where the program
       began. */
#ifdef __x86_64__
    int most = n - 1;
#else
    int most = n;
#endif
    int bad = whole && n < 64 ? m != most : m > n || m < 1;
    for (int i = 1; i < m && i < n; i++)
        bad |= ours[i] != (uintptr_t)theirs[i];
    pthread_mutex_lock(&lock);
    walks++;
    differ += bad;
    cut += told >> 30 & 1;
    if (bad && differ < 4) {
        fprintf(stderr, "glibc %d, walk %d (%x)\n", n, m, told);
        for (int i = 0; i < n || i < m; i++)
            fprintf(stderr, "  %p %p\n", i < n ? theirs[i] : NULL, i < m ? (void *)ours[i] : NULL);
    }
    pthread_mutex_unlock(&lock);
}

/* For Fortran. */
void check_(void) { check(); __asm__ volatile(""); }

__attribute__((destructor)) static void tell(void) {
    printf("walks %ld differ %ld cut %ld trails %ld\n", walks, differ, cut, topas_trails());
}
