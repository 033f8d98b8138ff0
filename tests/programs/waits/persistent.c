/* Waits in persistent collectives, of known length: persistent CASE FILE ROUNDS. Ranks come when they like to collectives
   that are prepared once, and start two of them in an order of their own. */
#include "truth.h"

enum { KINDS = 6 };

static int rounds;

/* A call waits for the start of a collective: whom it waits for is noted as of a collective. It may also wait for a rank that
   is outside of MPI. */
static call *waits_for(const char *routine, int shape, int root, int number)
{
    call *c = enters(routine, 7);
    c->shape = shape;
    c->root = root;
    c->first = number;
    return c;
}

static void world(MPI_Comm comm)
{
    static const int shapes[KINDS] = {0, 1, 2, 3, 0, 0}, roots[KINDS] = {0, 1, 2, 0, 0, 0};
    int in = 1, out[KINDS], all[RANKS];
    MPI_Request r[KINDS];
    MPI_Barrier_init(comm, MPI_INFO_NULL, &r[0]);
    MPI_Bcast_init(&out[1], 1, MPI_INT, 1, comm, MPI_INFO_NULL, &r[1]);
    MPI_Reduce_init(&in, &out[2], 1, MPI_INT, MPI_SUM, 2, comm, MPI_INFO_NULL, &r[2]);
    MPI_Scan_init(&in, &out[3], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r[3]);
    MPI_Allreduce_init(&in, &out[4], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r[4]);
    MPI_Allgather_init(&in, 1, MPI_INT, all, 1, MPI_INT, comm, MPI_INFO_NULL, &r[5]);
    for (int i = 0; i < rounds; i++) {
        int which = i % KINDS;
        meet_outside();
        pass(dice(30) / 10.);
        of_rank[own].arrived[i] = now();
        if (i % 2)
            MPI_Start(&r[which]);
        else
            MPI_Startall(1, &r[which]);
        pass(dice(10) / 10.);
        call *c = waits_for("Wait", shapes[which], roots[which], i);
        MPI_Wait(&r[which], MPI_STATUS_IGNORE);
        leaves(c);
        /* One that was not started waits for nobody. */
        MPI_Wait(&r[which], MPI_STATUS_IGNORE);
    }
    /* Two at once: each rank starts them in another order, and waits for the first one that all have prepared. */
    for (int i = rounds; i < 2 * rounds; i++) {
        static const int two[] = {0, 4};
        meet_outside();
        for (int k = 0; k < 2; k++) {
            int which = (k + own + i) % 2;
            pass(dice(20) / 10.);
            of_rank[own].arrived[2 * i + which] = now();
            MPI_Start(&r[two[which]]);
        }
        for (int which = 0; which < 2; which++) {
            call *c = waits_for(which ? "Waitany" : "Waitall", 0, 0, 2 * i + which);
            int done;
            if (which)
                MPI_Waitany(1, &r[two[which]], &done, MPI_STATUS_IGNORE);
            else
                MPI_Waitall(1, &r[two[which]], MPI_STATUSES_IGNORE);
            leaves(c);
        }
    }
    for (int k = 0; k < KINDS; k++)
        MPI_Request_free(&r[k]);
}

/* A ring: each rank waits for those at both sides. */
static void neighbours(void)
{
    int sides[2] = {(own + ranks - 1) % ranks, (own + 1) % ranks}, in = own, out[2];
    MPI_Comm ring;
    MPI_Request r;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sides, MPI_UNWEIGHTED, 2, sides, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                   0, &ring);
    MPI_Neighbor_allgather_init(&in, 1, MPI_INT, out, 1, MPI_INT, ring, MPI_INFO_NULL, &r);
    for (int i = 0; i < rounds; i++) {
        meet_outside();
        pass(dice(30) / 10.);
        of_rank[own].arrived[i] = now();
        MPI_Start(&r);
        call *c = enters("Wait", 5);
        for (int k = 0; k < 2; k++)
            c->ids[c->count++] = (id){sides[k], i};
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        leaves(c);
    }
    MPI_Request_free(&r);
    MPI_Comm_free(&ring);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 64;
    rounds = begin(&argc, &argv);
    if (!strcmp(argv[1], "world"))
        world(MPI_COMM_WORLD);
    else if (!strcmp(argv[1], "neighbours"))
        neighbours();
    else {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        world(comm);
        MPI_Comm_free(&comm);
    }
    end_notes();
    MPI_Finalize();
    return 0;
}
