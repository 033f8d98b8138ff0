/* Arrays of variable length, recursion, callbacks of libc, tail calls, frames that are aligned,
 * many registers in use. */
#include <alloca.h>
#include <stdlib.h>
#include <string.h>

void check(void);
volatile int zero;

static __attribute__((noinline)) int with_alloca(int n) {
    char *room = alloca(n * 16 + 1);
    memset(room, n, n * 16 + 1);
    check();
    if (n > 0) with_alloca(n - 1);
    check();
    return room[n / 2] + zero;
}

static __attribute__((noinline)) double with_array(int n) {
    double room[n + 1];
    for (int i = 0; i <= n; i++) room[i] = i + zero;
    if (n > 0) room[n / 2] += with_array(n - 1);
    check();
    return room[n / 2];
}

static int compare(const void *a, const void *b) {
    check();
    return *(const int *)a - *(const int *)b + zero;
}

static __attribute__((noinline)) long many(long a, long b, long c, long d, long e, long f, long g, long h) {
    long i = a * b, j = c * d, k = e * f, l = g * h;
    check();
    if (a > 0) i += many(a - 1, i, j, k, l, e, f, g);
    check();
    return i + j + k + l + zero;
}

static __attribute__((noinline)) void last(int n) {
    check();
    __asm__ volatile("");
}
static __attribute__((noinline)) void tail(int n) { last(n + 1); }

typedef float wide __attribute__((vector_size(32)));
static __attribute__((noinline)) float aligned(int n) {
    volatile wide room[4];
    room[n & 3] = (wide){1, 2, 3, 4, 5, 6, 7, (float)n};
    check();
    if (n > 0) aligned(n - 1);
    check();
    return room[n & 3][7] + zero;
}

static __attribute__((noinline)) float aligned_and_variable(int n) {
    volatile wide room[2];
    char *more = alloca(n * 24 + 8);
    memset(more, n, n * 24 + 8);
    room[n & 1] = (wide){1, 2, 3, 4, 5, 6, 7, (float)n};
    check();
    if (n > 0) aligned_and_variable(n - 1);
    return room[n & 1][7] + more[n] + zero;
}

static __attribute__((noreturn, noinline)) void never(void) {
    check();
    exit(0);
}

int main(void) {
    int numbers[] = {5, 3, 9, 1, 7, 2, 8};
    for (int i = 0; i < 40; i++) {
        with_alloca(i % 12);
        with_array(i % 14);
        many(i % 7, 2, 3, 4, 5, 6, 7, 8);
        tail(i);
        aligned(i % 10);
        aligned_and_variable(i % 10);
        int copy[7];
        memcpy(copy, numbers, sizeof copy);
        qsort(copy, 7, sizeof(int), compare);
    }
    never();
}
