/* The ten patterns by which analysis tools are tried (ATS): patterns CASE FILE ROUNDS. All ranks
   compute for a base time; those that are late compute for an extra time besides. */
#include "truth.h"

/* Milliseconds of computing. */
static const double base = 0.5, extra = 2;

static int rounds;
static char large[1 << 20];

/* Even ranks send, and are late. */
static void late_sender(void)
{
    int other = own ^ 1;
    if (other >= ranks)
        return;
    if (own % 2 == 0) {
        pass(base + extra);
        id m = sends();
        MPI_Send(&m, 2, MPI_INT, other, 1, MPI_COMM_WORLD);
    } else {
        id m;
        pass(base);
        call *c = enters("Recv", 0);
        MPI_Recv(&m, 2, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        leaves(c);
        got(c, m, c->entered);
    }
}

/* Odd ranks receive, and are late; the message waits for its receiver. */
static void late_receiver(void)
{
    int other = own ^ 1;
    id m;
    if (other >= ranks)
        return;
    if (own % 2 == 0) {
        pass(base);
        m = sends();
        memcpy(large, &m, sizeof m);
        call *c = enters("Ssend", 1);
        MPI_Ssend(large, sizeof large, MPI_BYTE, other, 1, MPI_COMM_WORLD);
        leaves(c);
        gave(c, m);
    } else {
        pass(base + extra);
        call *c = enters("Recv", 0);
        MPI_Recv(large, sizeof large, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        leaves(c);
        memcpy(&m, large, sizeof m);
        got(c, m, c->entered);
    }
}

/* Work of the program's own, which is no part of a pattern: on a loaded machine, who is last in there
   is left to chance. */
static void apart(void (*work)(void))
{
    MPI_Pcontrol(0);
    work();
    MPI_Pcontrol(1);
}

int main(int argc, char **argv)
{
    /* Whose extra time: 0 the higher the rank the more, 1 the root's, 2 all but the root's. */
    static const struct {
        const char *name, *routine;
        int shape, late;
    } collectives[] = {
        {"imbalance_at_mpi_barrier", "Barrier", 0, 0}, {"imbalance_at_mpi_alltoall", "Alltoall", 0, 0},
        {"late_broadcast", "Bcast", 1, 1},             {"late_scatter", "Scatter", 1, 1},
        {"late_scatterv", "Scatterv", 1, 1},           {"early_reduce", "Reduce", 2, 2},
        {"early_gather", "Gather", 2, 2},              {"early_gatherv", "Gatherv", 2, 2},
    };
    static int in[RANKS * 16], out[RANKS * 16];
    int counts[RANKS], places[RANKS];
    if (argc < 4)
        return 64;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    rounds = atoi(argv[3]);
    for (int i = 0; i < RANKS; i++) {
        counts[i] = 16;
        places[i] = 16 * i;
    }
    begin_notes(argv[2]);
    for (int round = 0; round < rounds; round++) {
        apart(together);
        if (!strcmp(argv[1], "late_sender"))
            late_sender();
        if (!strcmp(argv[1], "late_receiver"))
            late_receiver();
        for (unsigned i = 0; i < sizeof collectives / sizeof *collectives; i++) {
            if (strcmp(argv[1], collectives[i].name))
                continue;
            int root = 1, shape = collectives[i].shape, late = collectives[i].late;
            double share = late == 0 ? own / (ranks - 1.) : (own == root) == (late == 1);
            pass(base + extra * share);
            call *c = comes_to(collectives[i].routine, shape, root, round);
            switch (i) {
            case 0:
                MPI_Barrier(MPI_COMM_WORLD);
                break;
            case 1:
                MPI_Alltoall(in, 16, MPI_INT, out, 16, MPI_INT, MPI_COMM_WORLD);
                break;
            case 2:
                MPI_Bcast(in, 16, MPI_INT, root, MPI_COMM_WORLD);
                break;
            case 3:
                MPI_Scatter(in, 16, MPI_INT, out, 16, MPI_INT, root, MPI_COMM_WORLD);
                break;
            case 4:
                MPI_Scatterv(in, counts, places, MPI_INT, out, 16, MPI_INT, root, MPI_COMM_WORLD);
                break;
            case 5:
                MPI_Reduce(in, out, 16, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
                break;
            case 6:
                MPI_Gather(in, 16, MPI_INT, out, 16, MPI_INT, root, MPI_COMM_WORLD);
                break;
            default:
                MPI_Gatherv(in, 16, MPI_INT, out, counts, places, MPI_INT, root, MPI_COMM_WORLD);
            }
            leaves(c);
        }
    }
    /* Nor is the wait at the end for the rank that adds up. */
    MPI_Pcontrol(0);
    end_notes();
    MPI_Finalize();
    return 0;
}
