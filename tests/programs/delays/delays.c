/* Delays that begin in one of four ranks: delays CASE ROUNDS. In each round the late rank is later than the
   others, by 12 ms mostly; who waits for whom depends on the case. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 60000 };

static double room[4][LARGE];
static int rank, ranks;

static void work(int late)
{
    usleep(rank == late ? 14000 : 2000);
}

/* Rank 0 takes what comes first from all others, and answers when all have come; rank 2 is late. */
static void gather(void)
{
    MPI_Request requests[8];
    double own = 1, all[8];
    int which;
    if (rank > 0) {
        work(2);
        MPI_Send(&own, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        MPI_Recv(&own, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    for (int i = 1; i < ranks; i++)
        MPI_Irecv(&all[i], 1, MPI_DOUBLE, i, 1, MPI_COMM_WORLD, &requests[i - 1]);
    for (int i = 1; i < ranks; i++)
        MPI_Waitany(ranks - 1, requests, &which, MPI_STATUS_IGNORE);
    for (int i = 1; i < ranks; i++)
        MPI_Send(&own, 1, MPI_DOUBLE, i, 2, MPI_COMM_WORLD);
}

/* A pipeline of large messages whose stage 2 is slow: those before it wait for receivers, that behind it for a
   sender. */
static void pipeline(void)
{
    if (rank > 0)
        MPI_Recv(room[0], LARGE, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    work(2);
    if (rank < ranks - 1)
        MPI_Send(room[0], LARGE, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD);
}

/* A sum that is made meanwhile; rank 2 begins it late. */
static void meanwhile(void)
{
    double own = 1, sum;
    MPI_Request request;
    work(2);
    MPI_Iallreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    usleep(1000);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A ring of persistent requests; rank 1 is late. */
static void persistent(void)
{
    static MPI_Request requests[2];
    static int is_ready;
    if (!is_ready++) {
        MPI_Recv_init(room[0], 100, MPI_DOUBLE, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Send_init(room[1], 100, MPI_DOUBLE, (rank + 1) % ranks, 1, MPI_COMM_WORLD, &requests[1]);
    }
    work(1);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 looks for messages of any length before it receives them; rank 1 is late. */
static void probe(void)
{
    if (rank > 0) {
        work(1);
        MPI_Send(room[0], rank, MPI_DOUBLE, 0, rank, MPI_COMM_WORLD);
    }
    for (int i = 1; rank == 0 && i < ranks; i++) {
        MPI_Status status;
        int count;
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        MPI_Recv(room[1], count, MPI_DOUBLE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Two parts of a communicator that was split. In the second one rank 3 sends late to rank 2; the first one is done
   long before, and waits for the second one at the end of each round. */
static void parts(void)
{
    static MPI_Comm part;
    static int is_ready;
    double own = 1;
    if (!is_ready++)
        MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &part);
    work(3);
    MPI_Bcast(&own, 1, MPI_DOUBLE, 1, part);
    MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_DOUBLE, MPI_SUM, part);
}

/* Rank 1 is 6 ms later than the others: rank 0 waits for its message, rank 2 until it receives one, rank 3 in a
   collective. None of that is much by itself. */
static void mixed(void)
{
    double own = 1;
    usleep(rank == 1 ? 8000 : 2000);
    if (rank == 0)
        MPI_Recv(&own, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) {
        MPI_Send(&own, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        MPI_Recv(&own, 1, MPI_DOUBLE, 2, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 2)
        MPI_Ssend(&own, 1, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void sum(void)
{
    double own = 1;
    MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    room[0][0] = own;
}

__attribute__((noinline)) static void assemble(void)
{
    work(1);
    work(1);
    sum();
    room[1][0] = room[0][0];
}

__attribute__((noinline)) static void solve(void)
{
    work(3);
    sum();
    room[2][0] = room[0][0];
}

/* Two ranks are late, the first of them longer, each in another function, before the same sum. */
static void phases(void)
{
    assemble();
    solve();
}

/* Rank 0 is late to a sum that rank 3 makes and gives to all, so that these seem to wait for rank 3. */
__attribute__((noinline)) static void reduce(void)
{
    double own = 1, sum = 0;
    work(0);
    MPI_Reduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, 3, MPI_COMM_WORLD);
    MPI_Bcast(&sum, 1, MPI_DOUBLE, 3, MPI_COMM_WORLD);
    room[0][0] = sum;
}

/* Rank 3 is late in a ring, in which rank 0 waits for it and makes rank 1 wait. */
__attribute__((noinline)) static void exchange(void)
{
    double own = 1, other = 0;
    work(3);
    MPI_Sendrecv(&own, 1, MPI_DOUBLE, (rank + 1) % ranks, 1, &other, 1, MPI_DOUBLE, (rank + ranks - 1) % ranks,
                 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    room[1][0] = other;
}

/* Two ranks are late, one after the other, and each waits where the other one is late. */
static void crosswise(void)
{
    static int is_first = 1;
    for (int i = 0; is_first && i < 60; i++)
        reduce();
    is_first = 0;
    exchange();
}

int main(int argc, char **argv)
{
    static const struct { const char *name; void (*round)(void); } cases[] = {
        {"gather", gather}, {"pipeline", pipeline}, {"meanwhile", meanwhile},
        {"persistent", persistent}, {"probe", probe}, {"parts", parts},
        {"mixed", mixed}, {"phases", phases}, {"crosswise", crosswise},
    };
    const char *name = argc > 1 ? argv[1] : "gather";
    int rounds = argc > 2 ? atoi(argv[2]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (unsigned at = 0; at < sizeof cases / sizeof *cases; at++)
        for (int i = 0; strcmp(name, cases[at].name) == 0 && i < rounds; i++)
            cases[at].round();
    MPI_Finalize();
    return 0;
}
