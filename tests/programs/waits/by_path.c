/* Waits of known length by call path: by_path ROUNDS [_exit], with which no rank comes to
   MPI_Finalize. Rank 0 sends late from two functions, and rank 1
   receives in two; then all come to a collective in turn, each time another one late. Each rank notes
   how long its calls had to wait, by the function that called. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int own, ranks, rounds;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void pass(double milliseconds)
{
    double end = now() + milliseconds / 1000;
    while (now() < end) {
    }
}

/* What a call that lasted from e to x waited for what began at s. */
static double waited(double e, double x, double s)
{
    double until = s < x ? s : x;
    return until > e ? until - e : 0;
}

static double waits_near, waits_far, waits_sum;

__attribute__((noinline)) static void send_near(double *sent)
{
    *sent = now();
    MPI_Send(sent, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
    pass(0.01);
}

__attribute__((noinline)) static void send_far(double *sent)
{
    *sent = now();
    MPI_Send(sent, 1, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    pass(0.01);
}

__attribute__((noinline)) static void near(void)
{
    double sent, entered = now();
    MPI_Recv(&sent, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    waits_near += waited(entered, now(), sent);
}

__attribute__((noinline)) static void far(void)
{
    double sent, entered = now();
    MPI_Recv(&sent, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    waits_far += waited(entered, now(), sent);
}

__attribute__((noinline)) static void together(void)
{
    double entered = now(), last, all = 0;
    MPI_Allreduce(&entered, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    double left = now();
    all += waited(entered, left, last);
    waits_sum += all;
}

int main(int argc, char **argv)
{
    rounds = argc > 1 ? atoi(argv[1]) : 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < rounds; i++) {
        double sent;
        if (own == 0) {
            pass(1);
            send_near(&sent);
            pass(3);
            send_far(&sent);
        } else if (own == 1) {
            near();
            far();
        }
    }
    for (int i = 0; i < rounds; i++) {
        if (i % ranks == own)
            pass(2);
        together();
    }
    char name[3][16] = {"near", "far", "together"};
    double of[3] = {waits_near, waits_far, waits_sum};
    for (int i = 0; i < 3; i++)
        printf("truth %d %s %.9f\n", own, name[i], of[i]);
    fflush(stdout);
    if (argc > 2) {
        MPI_Barrier(MPI_COMM_WORLD);
        _exit(0);
    }
    MPI_Finalize();
    return 0;
}
