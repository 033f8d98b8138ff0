/* Waits in collectives with a root, of known length: rooted CASE FILE ROUNDS. Each time another rank is late. Large
   data have to wait for who takes them; small ones go without, but may go through another rank. */
#include "truth.h"

enum { LARGE = 400000, SMALL = 64 };

static int rounds;
static char *out, *in;

/* Each time another rank is late, and after some rounds it has another root before it. */
static int begins(int round, int late)
{
    meet_outside();
    if (own == late)
        pass(15);
    return round / ranks % ranks;
}

static void gather(const char *name, int shape, int size)
{
    for (int i = 0; i < rounds; i++) {
        int root = begins(i, i % ranks);
        call *c = comes_to(name, shape, root, i);
        MPI_Gather(out, size, MPI_BYTE, in, size, MPI_BYTE, root, MPI_COMM_WORLD);
        leaves(c);
    }
}

static void large(void)
{
    gather("Gather", 5, LARGE);
}

static void small(void)
{
    gather("Gather", 2, SMALL);
}

/* The root is late each time. */
static void late_root(void)
{
    for (int i = 0; i < rounds; i++) {
        int root = i % ranks;
        begins(i, root);
        call *c = comes_to("Gatherv", 5, root, i);
        int counts[RANKS], places[RANKS];
        for (int k = 0; k < ranks; k++) {
            counts[k] = LARGE;
            places[k] = k * LARGE;
        }
        MPI_Gatherv(out, LARGE, MPI_BYTE, in, counts, places, MPI_BYTE, root, MPI_COMM_WORLD);
        leaves(c);
    }
}

static void scatter(void)
{
    for (int i = 0; i < rounds; i++) {
        int root = begins(i, i % ranks);
        call *c = comes_to("Scatter", 4, root, i);
        void *to = own == root ? MPI_IN_PLACE : out;
        MPI_Scatter(in, LARGE, MPI_BYTE, to, LARGE, MPI_BYTE, root, MPI_COMM_WORLD);
        leaves(c);
    }
}

static void bcast(void)
{
    for (int i = 0; i < rounds; i++) {
        int root = begins(i, i % ranks);
        call *c = comes_to("Bcast", 4, root, i);
        MPI_Bcast(in, LARGE, MPI_BYTE, root, MPI_COMM_WORLD);
        leaves(c);
    }
}

static void reduce(void)
{
    for (int i = 0; i < rounds; i++) {
        int root = begins(i, i % ranks);
        call *c = comes_to("Reduce", 5, root, i);
        MPI_Reduce(out, in, LARGE / sizeof(int), MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        leaves(c);
    }
}

/* Not the root, which waits for nobody or for all: so ranks wait for those from which they get the root's data, or which give
   it theirs. */
static void trees(void)
{
    for (int i = 0; i < rounds; i++) {
        int late = 1 + i / 2 % (ranks - 1), sum[4];
        meet_outside();
        if (own == late)
            pass(15);
        call *c = comes_to(i % 2 ? "Reduce" : "Bcast", i % 2 ? 2 : 1, 0, i);
        if (i % 2)
            MPI_Reduce(out, sum, 4, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        else
            MPI_Bcast(in, SMALL, MPI_BYTE, 0, MPI_COMM_WORLD);
        leaves(c);
    }
}

/* In a communicator whose ranks are in another order, with requests. */
static void started(void)
{
    MPI_Comm turned;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -own, &turned);
    for (int i = 0; i < rounds; i++) {
        int root = begins(i, i % ranks), there = ranks - 1 - root;
        MPI_Request request;
        of_rank[own].arrived[i] = now();
        if (i % 2)
            MPI_Igather(out, LARGE, MPI_BYTE, in, LARGE, MPI_BYTE, there, turned, &request);
        else
            MPI_Ibcast(in, LARGE, MPI_BYTE, there, turned, &request);
        call *c = enters("Wait", 3);
        c->shape = i % 2 ? 5 : 4;
        c->root = root;
        c->first = i;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        leaves(c);
    }
    MPI_Comm_free(&turned);
}

int main(int argc, char **argv)
{
    static const named_case cases[] = {{"large", large},     {"small", small}, {"late_root", late_root}, {"scatter", scatter},
                 {"bcast", bcast},     {"reduce", reduce}, {"started", started}, {"trees", trees}};
    if (argc < 4)
        return 64;
    out = calloc(LARGE, 1);
    in = calloc(LARGE, RANKS);
    rounds = begin(&argc, &argv);
    run_case(argv[1], cases, sizeof cases / sizeof *cases);
    MPI_Finalize();
    return 0;
}
