/* Waits in functions that make communicators and of which not all ranks of another communicator know beforehand who
   comes, of known length: makers CASE FILE ROUNDS. */
#include "truth.h"

static int rounds;

/* All ranks but one, another one each time, in turned order. */
static void groups(void)
{
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int i = 0; i < rounds; i++) {
        int without = i / ranks % ranks, members[RANKS], count = 0;
        for (int rank = ranks; rank-- > 0;)
            if (rank != without)
                members[count++] = rank;
        MPI_Group group;
        MPI_Group_incl(all, count, members, &group);
        meet_outside();
        late_in_turn(i);
        of_rank[own].arrived[i] = 0;
        if (own != without) {
            MPI_Comm made;
            call *c = comes_to("Comm_create_group", 0, 0, i);
            MPI_Comm_create_group(MPI_COMM_WORLD, group, 7 + i % 2, &made);
            leaves(c);
            MPI_Comm_free(&made);
        }
        MPI_Group_free(&group);
    }
    MPI_Group_free(&all);
}

/* Between the first rank and all others. */
static void two_groups(void)
{
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, own > 0, own, &half);
    for (int i = 0; i < rounds; i++) {
        MPI_Comm made;
        meet_outside();
        late_in_turn(i);
        call *c = comes_to("Intercomm_create", 0, 0, i);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, own > 0 ? 0 : 1, 5, &made);
        leaves(c);
        MPI_Comm_free(&made);
    }
    MPI_Comm_free(&half);
}

static void started(void)
{
    for (int i = 0; i < rounds; i++) {
        MPI_Comm made;
        MPI_Request request;
        meet_outside();
        late_in_turn(i);
        of_rank[own].arrived[i] = now();
        MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
        call *c = enters("Wait", 3);
        c->first = i;
        c->shape = 0;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        leaves(c);
        MPI_Comm_free(&made);
    }
}

int main(int argc, char **argv)
{
    static const named_case cases[] = {{"groups", groups}, {"between", two_groups}, {"started", started}};
    if (argc < 4)
        return 64;
    rounds = begin(&argc, &argv);
    run_case(argv[1], cases, sizeof cases / sizeof *cases);
    MPI_Finalize();
    return 0;
}
