/* Waits of known length in collectives of neighbours: neighbors CASE FILE ROUNDS [_exit], with which no rank comes
   to MPI_Finalize. The program knows from its own rules who the neighbours of a rank are. All ranks count the
   collectives together, so each knows the number of what another one came to. */
#include "truth.h"

enum { FUNCTIONS = 5, MOST = 500 };

static int rounds, made;

/* Ranks of the world from which data come, and how many blocks go out and come in. */
typedef struct {
    MPI_Comm comm;
    int sources[IDS], count;
    int out, in;
} neighborhood;

/* Ranks from the last to the first, so that no rank of a communicator is that of the world. */
static MPI_Comm reversed(void)
{
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -own, &comm);
    return comm;
}

static int in_world(int rank)
{
    return ranks - 1 - rank;
}

/* A rank of a communicator is a source, once or more often; negative if it is nobody. */
static void from(neighborhood *n, int rank)
{
    n->in++;
    for (int k = 0; rank >= 0 && k < n->count; k++)
        if (n->sources[k] == in_world(rank))
            return;
    if (rank >= 0)
        n->sources[n->count++] = in_world(rank);
}

/* One or two dimensions, of which the last is a ring: each rank has two neighbours in each. */
static neighborhood cartesian(int dimensions)
{
    neighborhood n = {.count = 0};
    int rank = in_world(own), size[2] = {1, ranks}, periodic[2] = {0, 1};
    if (dimensions == 2 && ranks % 2 == 0)
        size[0] = 2, size[1] = ranks / 2;
    MPI_Comm parent = reversed();
    MPI_Cart_create(parent, dimensions, size + 2 - dimensions, periodic + 2 - dimensions, 0, &n.comm);
    MPI_Comm_free(&parent);
    int row = rank / size[1], column = rank % size[1];
    for (int side = -1; side < 2 && dimensions == 2; side += 2)
        from(&n, row + side < 0 || row + side >= size[0] ? -1 : (row + side) * size[1] + column);
    for (int side = -1; side < 2; side += 2)
        from(&n, row * size[1] + (column + side + size[1]) % size[1]);
    n.out = n.in;
    return n;
}

/* The last rank of the world is a neighbour of all others, which have no other neighbour. */
static neighborhood star(void)
{
    neighborhood n = {.count = 0};
    int rank = in_world(own), index[RANKS], edges[2 * RANKS];
    for (int k = 0; k < ranks; k++)
        index[k] = ranks - 1 + k;
    for (int k = 0; k < ranks - 1; k++) {
        edges[k] = k + 1;
        edges[ranks - 1 + k] = 0;
    }
    MPI_Comm parent = reversed();
    MPI_Graph_create(parent, ranks, index, edges, 0, &n.comm);
    MPI_Comm_free(&parent);
    for (int k = rank == 0 ? 1 : 0; k < (rank == 0 ? ranks : 1); k++)
        from(&n, k);
    n.out = n.in;
    return n;
}

/* Data go from each rank of the world to the next: rank 0 gets nothing, and the last one gives nothing. */
static neighborhood chain(void)
{
    neighborhood n = {.count = 0};
    int rank = in_world(own), source = rank + 1, to = rank - 1, weights[2] = {3, 4};
    int ins = own > 0, outs = own < ranks - 1;
    MPI_Comm parent = reversed();
    MPI_Dist_graph_create_adjacent(parent, ins, &source, weights, outs, &to, weights, MPI_INFO_NULL, 0, &n.comm);
    MPI_Comm_free(&parent);
    if (ins)
        from(&n, source);
    n.out = outs;
    return n;
}

/* From rank 0 of the world to rank 1, and, if there are more, both ways between the others, twice. One rank tells
   all of that. */
static neighborhood apart(void)
{
    neighborhood n = {.count = 0};
    int edges = 0, sources[64], degrees[64], to[64];
    for (int a = 0; a < ranks; a++)
        for (int b = 0; b < ranks; b++)
            if ((a == 0 && b == 1) || (a > 1 && b > 1 && a != b))
                for (int twice = 0; twice < (a ? 2 : 1) && edges < 64; twice++) {
                    sources[edges] = in_world(a);
                    degrees[edges] = 1;
                    to[edges++] = in_world(b);
                    if (b == own)
                        from(&n, in_world(a));
                    n.out += a == own;
                }
    MPI_Comm parent = reversed();
    MPI_Dist_graph_create(parent, own == 1 ? edges : 0, sources, degrees, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                          &n.comm);
    MPI_Comm_free(&parent);
    return n;
}

static const char *names[FUNCTIONS] = {"Neighbor_allgather", "Neighbor_alltoall", "Neighbor_allgatherv",
                                       "Neighbor_alltoallv", "Neighbor_alltoallw"};

/* Blocks of `count` integers by one of the functions. Two may go on at the same time, of one integer each. */
static void meet(const neighborhood *n, int function, int count, MPI_Request *request)
{
    static int out[IDS * MOST], in[2][IDS * MOST], turn, counts[IDS], places[IDS];
    static MPI_Aint bytes[IDS];
    static MPI_Datatype types[IDS];
    int *into = in[turn++ % 2];
    MPI_Comm comm = n->comm;
    for (int k = 0; k < IDS; k++) {
        counts[k] = count;
        places[k] = k * count;
        bytes[k] = k * count * (MPI_Aint)sizeof(int);
        types[k] = MPI_INT;
    }
    if (function == 0 && request)
        MPI_Ineighbor_allgather(out, count, MPI_INT, into, count, MPI_INT, comm, request);
    else if (function == 0)
        MPI_Neighbor_allgather(out, count, MPI_INT, into, count, MPI_INT, comm);
    else if (function == 1 && request)
        MPI_Ineighbor_alltoall(out, count, MPI_INT, into, count, MPI_INT, comm, request);
    else if (function == 1)
        MPI_Neighbor_alltoall(out, count, MPI_INT, into, count, MPI_INT, comm);
    else if (function == 2 && request)
        MPI_Ineighbor_allgatherv(out, count, MPI_INT, into, counts, places, MPI_INT, comm, request);
    else if (function == 2)
        MPI_Neighbor_allgatherv(out, count, MPI_INT, into, counts, places, MPI_INT, comm);
    else if (function == 3 && request)
        MPI_Ineighbor_alltoallv(out, counts, places, MPI_INT, into, counts, places, MPI_INT, comm, request);
    else if (function == 3)
        MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, into, counts, places, MPI_INT, comm);
    else if (request)
        MPI_Ineighbor_alltoallw(out, counts, bytes, types, into, counts, bytes, types, comm, request);
    else
        MPI_Neighbor_alltoallw(out, counts, bytes, types, into, counts, bytes, types, comm);
}

/* This rank comes to the next collective of neighbours: its number. */
static int arrives(double moment)
{
    if (made >= CALLS)
        exit(74);
    of_rank[own].arrived[made] = moment;
    return made++;
}

static void awaits(call *c, const neighborhood *n, int number)
{
    for (int k = 0; k < n->count; k++)
        c->ids[c->count++] = (id){n->sources[k], number};
}

static void blocking(const neighborhood *n, int function, int count)
{
    call *c = enters(names[function], 5);
    int number = arrives(c->entered);
    meet(n, function, count, NULL);
    leaves(c);
    awaits(c, n, number);
}

/* MPICH 4.0 reads behind the counts of Neighbor_alltoallw where a rank has more neighbours on one side. */
static int functions(const neighborhood *n)
{
    int even = n->in == n->out;
    MPI_Allreduce(MPI_IN_PLACE, &even, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return even ? FUNCTIONS : FUNCTIONS - 1;
}

/* Rank 0 is late by 2 ms in each round. Nothing of that goes on into the next round, and nobody waits for it in
   another call. */
static void late(neighborhood n)
{
    int some = functions(&n);
    for (int i = 0; i < rounds; i++) {
        meet_outside();
        if (own == 0)
            pass(2);
        blocking(&n, i % some, 1);
    }
    MPI_Comm_free(&n.comm);
}

static void ring(void)
{
    late(cartesian(1));
}

static void grid(void)
{
    late(cartesian(2));
}

static void hub(void)
{
    late(star());
}

static void pairs(void)
{
    late(apart());
}

static void line(void)
{
    late(chain());
}

/* Whoever likes is late, on several communicators in turns, between other collectives. In each round all
   functions are called one behind the other, so ranks run ahead of those that they do not wait for. */
static void any(void)
{
    neighborhood all[] = {cartesian(1), cartesian(2), star(), chain(), apart()};
    enum { ALL = sizeof all / sizeof *all };
    int some[ALL];
    for (int k = 0; k < ALL; k++)
        some[k] = functions(&all[k]);
    for (int i = 0; i < rounds; i++) {
        neighborhood *n = &all[i % ALL];
        for (int k = 0; k < some[i % ALL]; k++) {
            pass(dice(20) / 10.);
            blocking(n, k, i % 3 ? 1 : MOST);
        }
        if (i % 2)
            MPI_Barrier(n->comm);
    }
    for (int k = 0; k < ALL; k++)
        MPI_Comm_free(&all[k].comm);
}

/* Started and completed later, also two at a time. */
static void started(void)
{
    neighborhood all[] = {cartesian(1), chain(), cartesian(2), apart()};
    enum { ALL = sizeof all / sizeof *all };
    int some[ALL];
    for (int k = 0; k < ALL; k++)
        some[k] = functions(&all[k]);
    for (int i = 0; i < rounds; i++) {
        MPI_Request r[2];
        int number[2], count = i % 3 == 0 ? 2 : 1;
        neighborhood *n = &all[i % ALL], *other = &all[(i + 1) % ALL];
        pass(dice(20) / 10.);
        number[0] = arrives(now());
        meet(n, i % some[i % ALL], 1, &r[0]);
        if (count == 2) {
            pass(dice(10) / 10.);
            number[1] = arrives(now());
            meet(other, 1, 1, &r[1]);
        }
        pass(dice(10) / 10.);
        call *c = enters(count == 2 ? "Waitall" : "Wait", 5);
        if (count == 2)
            MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        else
            MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        leaves(c);
        awaits(c, n, number[0]);
        if (count == 2)
            awaits(c, other, number[1]);
    }
    for (int k = 0; k < ALL; k++)
        MPI_Comm_free(&all[k].comm);
}

/* More communicators, one after the other and at a time, than have their neighbours kept. */
static void many(void)
{
    enum { TIMES = 100 };
    static neighborhood all[TIMES];
    for (int k = 0; k < TIMES; k++)
        all[k] = k % 2 ? cartesian(1) : chain();
    for (int i = 0; i < rounds; i++) {
        neighborhood *n = &all[i * 7 % TIMES];
        pass(dice(20) / 10.);
        blocking(n, i % 4, 1);
        if (i % 3 == 0) {
            MPI_Comm_free(&n->comm);
            *n = i % 2 ? cartesian(1) : chain();
        }
    }
    for (int k = 0; k < TIMES; k++)
        MPI_Comm_free(&all[k].comm);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"ring", ring}, {"grid", grid}, {"hub", hub},         {"pairs", pairs},
                 {"line", line}, {"any", any},   {"started", started}, {"many", many}};
    if (argc < 4)
        return 64;
    rounds = begin(&argc, &argv);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(cases[i].name, argv[1]))
            cases[i].run();
    end_notes();
    if (argc > 4)
        _exit(0);
    MPI_Finalize();
    return 0;
}
