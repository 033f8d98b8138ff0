/* Four threads call MPI at once: threads REDUCTIONS REQUESTS MESSAGES. Each has a communicator of its own, over both
 * ranks, and one of the rank alone. */
#include <pthread.h>

#define THREADS 4
#define WINDOW 100

static int calls, rank;
static MPI_Comm pairs[THREADS], selves[THREADS];
static MPI_Request handed[THREADS][2 * WINDOW];
static pthread_barrier_t all;

static void *reduces(void *which) {
    int in = 1, out, i = (int)(long)which;
    for (int n = 0; n < calls; n++) MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, selves[i]);
    return NULL;
}

static void *passes(void *which) {
    int i = (int)(long)which;
    double data[3] = {0};
    for (int n = 0; n < calls; n++) {
        if (rank == n % 2)
            MPI_Send(data, 3, MPI_DOUBLE, !rank, i, pairs[i]);
        else
            MPI_Recv(data, 3, MPI_DOUBLE, MPI_ANY_SOURCE, i, pairs[i], MPI_STATUS_IGNORE);
    }
    return NULL;
}

/* Requests of one thread are completed by the next. */
static void *hands(void *which) {
    int i = (int)(long)which, other = (i + 1) % THREADS;
    static short in[THREADS][WINDOW][9], out[THREADS][7];
    for (int n = 0; n < calls; n += WINDOW) {
        for (int k = 0; k < WINDOW; k++) {
            MPI_Irecv(in[i][k], 9, MPI_SHORT, MPI_ANY_SOURCE, k, selves[i], &handed[i][k]);
            MPI_Isend(out[i], 7, MPI_SHORT, 0, k, selves[i], &handed[i][WINDOW + k]);
        }
        pthread_barrier_wait(&all);
        if (n / WINDOW % 2) {
            MPI_Waitall(2 * WINDOW, handed[other], MPI_STATUSES_IGNORE);
        } else {
            for (int k = 0; k < 2 * WINDOW; k++) MPI_Wait(&handed[other][k], MPI_STATUS_IGNORE);
        }
        pthread_barrier_wait(&all);
    }
    return NULL;
}

static void run(void *(*what)(void *)) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, what, (void *)i)) abort();
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < THREADS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &pairs[i]);
        MPI_Comm_dup(MPI_COMM_SELF, &selves[i]);
    }
    pthread_barrier_init(&all, NULL, THREADS);
    calls = atoi(argv[1]);
    run(reduces);
    calls = atoi(argv[2]);
    run(hands);
    calls = atoi(argv[3]);
    run(passes);
    for (int i = 0; i < THREADS; i++) {
        MPI_Comm_free(&pairs[i]);
        MPI_Comm_free(&selves[i]);
    }
    MPI_Finalize();
    return 0;
}
