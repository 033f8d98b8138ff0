// Rank 1 of those that a launcher started starts two further ranks of this program, and both worlds exchange messages
// and come to collectives: on the intercommunicator, and on what is made of it. What each rank waits there for ranks of
// the other world is told on standard output, by the clock: `WORLD RANK KIND SECONDS`. With the word `any`, some receives
// leave open from where a message comes, with which MPICH 5.0 loses messages of spawned processes.

#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 20, LATE = 10000, LARGE = 1 << 18 };
enum receives { FIRST, NAMED, ANY };

static int buffer[LARGE];
static int started, rank;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void tell(const char *kind, double seconds)
{
    printf("%s %d %s %.6f\n", started ? "started" : "starters", rank, kind, seconds);
    fflush(stdout);
}

// Those of the other world send to rank 0, and rank 1 of them is late.
static void late_senders(MPI_Comm comm, int from, int to, int is_sender, int is_receiver,
                         enum receives how)
{
    int any = how == ANY;
    double waited = 0;
    for (int round = 0; round < ROUNDS; round++) {
        if (is_sender) {
            usleep(LATE);
            MPI_Send(&round, 1, MPI_INT, to, 7, comm);
            // Who is behind does not find several messages.
            MPI_Recv(&round, 1, MPI_INT, to, 9, comm, MPI_STATUS_IGNORE);
        }
        if (is_receiver) {
            int got;
            double began = now();
            MPI_Recv(&got, 1, MPI_INT, any ? MPI_ANY_SOURCE : from, any ? MPI_ANY_TAG : 7, comm,
                     MPI_STATUS_IGNORE);
            waited += now() - began;
            MPI_Send(&got, 1, MPI_INT, from, 9, comm);
        }
    }
    if (is_receiver)
        tell(how == FIRST ? "late" : "split", waited);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter, merged, split;
    int more = 2, any = argc > 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    started = parent != MPI_COMM_NULL;
    inter = parent;
    if (!started)
        MPI_Comm_spawn(argv[0], argv + 1, more, MPI_INFO_NULL, 1, MPI_COMM_WORLD, &inter,
                       MPI_ERRCODES_IGNORE);
    // Rank 1 that was started sends late to rank 0 of the starters.
    late_senders(inter, 1, 0, started && rank == 1, !started && rank == 0, FIRST);
    // Rank 1 of the starters receives late from rank 0 that was started.
    double waited = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double began = now();
        if (started && rank == 0)
            // Intel MPI 2021.10 lets even messages of 1 MiB go without their receiver.
            MPI_Ssend(buffer, LARGE, MPI_INT, 1, 8, inter);
        waited += now() - began;
        // MPICH 4.1 lets the sender go only when its receiver calls MPI the next time, here in the next round, which is
        // then no late receive of that round: each round begins when both are through.
        if (started && rank == 0)
            MPI_Send(&round, 1, MPI_INT, 1, 10, inter);
        if (!started && rank == 1) {
            int through;
            usleep(LATE);
            MPI_Recv(buffer, LARGE, MPI_INT, 0, 8, inter, MPI_STATUS_IGNORE);
            MPI_Recv(&through, 1, MPI_INT, 0, 10, inter, MPI_STATUS_IGNORE);
        }
    }
    if (started && rank == 0)
        tell("latercv", waited);
    MPI_Intercomm_merge(inter, started, &merged);
    int merged_rank, merged_size;
    MPI_Comm_rank(merged, &merged_rank);
    MPI_Comm_size(merged, &merged_size);
    // The last that was started is late to barriers.
    waited = 0;
    for (int round = 0; round < ROUNDS; round++) {
        if (merged_rank == merged_size - 1)
            usleep(LATE);
        double began = now();
        MPI_Barrier(merged);
        waited += now() - began;
    }
    tell("barrier", waited);
    // A message whose sender only the status tells, in a communicator that comes from the merged one.
    MPI_Comm_split(merged, merged_rank == 0 || merged_rank == merged_size - 1, merged_rank, &split);
    if (merged_rank == 0 || merged_rank == merged_size - 1)
        late_senders(split, 1, 0, merged_rank != 0, merged_rank == 0, any ? ANY : NAMED);
    // Rank 0 of the starters is late to what both groups of the intercommunicator add up.
    waited = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int mine = rank, sum;
        if (!started && rank == 0)
            usleep(LATE);
        double began = now();
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter);
        waited += now() - began;
    }
    if (started)
        tell("allreduce", waited);
    MPI_Comm_free(&split);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&inter);
    MPI_Finalize();
    return 0;
}
