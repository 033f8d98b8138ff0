// topas: env="TOPAS_PE=1,2" args=3 expect: exit=3 end@1=exit:3 end@2=exit:0
//
// Rank 1 ends with the code of the first argument, all others with 0. It waits until
// they have gone: a launcher kills whatever still runs when a rank fails.

#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MOST_RANKS = 64, PATIENCE_MS = 20000 };

static void wait_for_end_of(pid_t pid)
{
    struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < PATIENCE_MS && (kill(pid, 0) == 0 || errno != ESRCH); i++)
        nanosleep(&pause, NULL);
}

int main(int argc, char **argv)
{
    int rank, ranks, own = getpid(), pids[MOST_RANKS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > MOST_RANKS || argc < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Allgather(&own, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank != 1)
        return 0;
    for (int i = 0; i < ranks; i++)
        if (i != rank)
            wait_for_end_of(pids[i]);
    exit(atoi(argv[1]));
}
