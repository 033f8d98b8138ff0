// Calls of MPI that are known, and then an end in the way and by the rank that the arguments name; a
// rank of -1 is all. The others wait to be killed.
//
// profile: ranks=3
// profile: Comm_rank@all calls=1
// profile: Allreduce@all calls=100 count=100
// profile: Sendrecv@all calls=10 sends=10 sent=80 receives=10 received=80
// profile: Irecv@all calls=5 receives=5 received=20
// profile: Isend@all calls=5 sends=5 sent=20
// profile: Waitall@all calls=5
// profile: Barrier@all calls=1

#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int *nowhere;

static void calls(int rank, int ranks)
{
    double value = rank, got;
    int sum, in, right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    for (int i = 0; i < 100; i++)
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 10; i++)
        MPI_Sendrecv(&value, 1, MPI_DOUBLE, right, 1, &got, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    for (int i = 0; i < 5; i++) {
        MPI_Irecv(&in, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&rank, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, statuses);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void *aborts(void *unused)
{
    MPI_Abort(MPI_COMM_WORLD, 7);
    return unused;
}

static int end_by(const char *way)
{
    int none = 0;
    const char *launcher = getenv("LAUNCHER");
    if (strcmp(way, "exit") == 0)
        exit(3);
    if (strcmp(way, "_exit") == 0)
        _exit(3);
    if (strcmp(way, "quick_exit") == 0)
        quick_exit(3);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "mpi_abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(way, "mpi_error") == 0)
        MPI_Send(&none, 1, MPI_INT, 4711, 0, MPI_COMM_WORLD);
    if (strcmp(way, "thread_abort") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, aborts, NULL);
        pthread_join(thread, NULL);
    }
    if (strcmp(way, "segv") == 0)
        *nowhere = 1;
    if (strcmp(way, "term") == 0)
        raise(SIGTERM);
    if (strcmp(way, "int") == 0)
        raise(SIGINT);
    if (strcmp(way, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(way, "exec") == 0)
        execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
    // Nobody sends this message.
    if (strcmp(way, "recv") == 0)
        MPI_Recv(&none, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(way, "launcher_term") == 0 && launcher != NULL)
        kill(atoi(launcher), SIGTERM);
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    int rank, ranks;
    const char *way = argc > 1 ? argv[1] : "finalize";
    int acting = argc > 2 ? atoi(argv[2]) : -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    calls(rank, ranks);
    if (strcmp(way, "return") == 0)
        return 0;
    if (strcmp(way, "finalize") != 0) {
        // The others have left the barrier, as far as one can know.
        usleep(100000);
        if (acting != -1 && acting != rank)
            for (;;)
                pause();
        return end_by(way);
    }
    MPI_Finalize();
    return 0;
}
