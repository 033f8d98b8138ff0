/* Exchanges of messages of so many BYTES, a variable: exchanges CASE FILE ROUNDS. Rank 0 notes its calls, in the ring
   all do. Whether a message goes without its receiver is a matter of the MPI; of two ranks rank 0 tells at the end how many of eight
   did. */
#include "truth.h"

static int rounds, bytes;
static char out[2 << 20], in[2 << 20];
static MPI_Status states[2];

static void fill(id m)
{
    memcpy(out, &m, sizeof m);
}

static id taken(void)
{
    id m;
    memcpy(&m, in, sizeof m);
    return m;
}

/* Rank 1 is late for both, and sends before it posts its receive. */
static void tie(void)
{
    for (int i = 0; i < rounds; i++) {
        MPI_Request r[2];
        meet_outside();
        if (own == 1)
            pass(3);
        fill(sends());
        MPI_Isend(out, bytes, MPI_BYTE, 1 - own, 1, MPI_COMM_WORLD, &r[0]);
        double posted = now();
        MPI_Irecv(in, bytes, MPI_BYTE, 1 - own, 1, MPI_COMM_WORLD, &r[1]);
        if (own == 1) {
            MPI_Waitall(2, r, states);
            continue;
        }
        call *c = enters("Waitall", 0);
        MPI_Waitall(2, r, states);
        leaves(c);
        got(c, taken(), posted);
    }
}

/* Rank 1 posts a receive late. */
static void receiver(void)
{
    for (int i = 0; i < rounds; i++) {
        meet_outside();
        if (own == 0) {
            id m = sends();
            fill(m);
            call *c = enters("Send", 1);
            MPI_Send(out, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
            leaves(c);
            gave(c, m);
        } else {
            pass(2);
            call *c = enters("Recv", 0);
            MPI_Recv(in, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            leaves(c);
            got(c, taken(), c->entered);
        }
    }
}

/* Rank 1 is late for both, and posts its receive long after it has sent, or long before. */
static void gap(void)
{
    for (int i = 0; i < rounds; i++) {
        MPI_Request r[2];
        meet_outside();
        if (own == 0) {
            id m = sends();
            fill(m);
            call *c = enters("Sendrecv", 2);
            MPI_Sendrecv(out, bytes, MPI_BYTE, 1, 3, in, bytes, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            leaves(c);
            got(c, taken(), c->entered);
            gave(c, m);
            continue;
        }
        double posted = 0;
        for (int k = 0; k < 2; k++) {
            pass(2);
            if (k == i % 2) {
                fill(sends());
                MPI_Isend(out, bytes, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &r[0]);
            } else {
                posted = now();
                MPI_Irecv(in, bytes, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &r[1]);
            }
        }
        MPI_Waitall(2, r, states);
        id m = taken();
        of_rank[m.rank].posted[m.number] = posted;
    }
}

/* A call that received one message and sent another, which goes without its receiver as a rule, waited for that only if what
   it received was there, and it ended soon after its receiver came. */
static void stays_or_goes(call *c)
{
    double came = of_rank[c->ids[1].rank].posted[c->ids[1].number];
    double sent = of_rank[c->ids[0].rank].began[c->ids[0].number];
    double waited = between(c->entered, came, c->left), other = between(c->entered, sent, c->left);
    if (c->left - c->entered < 80e-6 || other > waited / 16 || 4 * (c->left - came) >= waited)
        c->count = c->received;
}

/* All ranks pass something on at once, and rank 1 is late: the rank before it has what it receives, and may nevertheless
   go on with rank 1 alone. */
static void ring(void)
{
    for (int i = 0; i < rounds; i++) {
        meet_outside();
        if (own == 1)
            pass(5);
        id m = sends();
        fill(m);
        call *c = enters("Sendrecv", 2);
        MPI_Sendrecv(out, bytes, MPI_BYTE, (own + 1) % ranks, 5, in, bytes, MPI_BYTE, (own + ranks - 1) % ranks, 5,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        leaves(c);
        got(c, taken(), c->entered);
        gave(c, m);
    }
    meet_outside();
    for (int i = 0; i < of_rank[own].calls; i++)
        stays_or_goes(&of_rank[own].all[i]);
}

/* How many messages go while rank 1 is not in MPI. */
static void count(void)
{
    int gone = 0;
    for (int i = 0; i < 8; i++) {
        meet_outside();
        if (own == 0) {
            double began = now();
            MPI_Request r;
            MPI_Isend(out, bytes, MPI_BYTE, 1, 4, MPI_COMM_WORLD, &r);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
            gone += now() - began < 10e-3;
        } else {
            pass(20);
            MPI_Recv(in, bytes, MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    if (own == 0)
        printf("gone %d\n", gone);
    /* If they go, no call that receives something waits for a receiver, whenever that comes. */
    for (int i = 0; i < of_rank[own].calls && gone == 8; i++)
        if (of_rank[own].all[i].received)
            of_rank[own].all[i].count = of_rank[own].all[i].received;
}

int main(int argc, char **argv)
{
    if (argc != 4 || !getenv("BYTES"))
        return 64;
    rounds = begin(&argc, &argv);
    bytes = atoi(getenv("BYTES"));
    if (!strcmp(argv[1], "tie"))
        tie();
    else if (!strcmp(argv[1], "gap"))
        gap();
    else if (!strcmp(argv[1], "ring"))
        ring();
    else if (!strcmp(argv[1], "seen")) {
        /* What a size is like is seen before. */
        receiver();
        gap();
        tie();
    } else
        return 64;
    if (ranks == 2)
        count();
    end_notes();
    MPI_Finalize();
    return 0;
}
