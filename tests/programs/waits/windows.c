/* Waits of known length at windows: windows CASE FILE ROUNDS [_exit], with which no rank comes to
   MPI_Finalize. All ranks count posts and ends of accesses
   together, whether they take part or not, so each knows the number of what another one told. */
#include "truth.h"

enum { WINDOWS = 2 };

static int rounds;
/* Measuring is paused and goes on before any call; what is not counted is not noted. */
static int pauses, counted = 1;

/* A window, and where the ranks of the world are in its group. */
typedef struct {
    MPI_Win win;
    MPI_Group group;
    int where[RANKS];
    int posted, completed; /* numbers of what is told in its epoch */
    /* Of each rank, bits of others. */
    unsigned targets[RANKS], accessed_by[RANKS];
} window;

/* The same throw on all ranks. */
static unsigned common(unsigned sides)
{
    static unsigned state = 4711;
    state = state * 1664525 + 1013904223;
    return (state >> 12) % sides;
}

static void make(window *w, MPI_Comm comm, int shared)
{
    static int own_memory[RANKS];
    int all[RANKS] = {0, 1, 2, 3};
    void *memory;
    MPI_Group world;
    w->win = MPI_WIN_NULL;
    w->group = MPI_GROUP_EMPTY;
    if (comm == MPI_COMM_NULL)
        return;
    if (shared)
        MPI_Win_allocate_shared(sizeof own_memory, sizeof(int), MPI_INFO_NULL, comm, &memory,
                                &w->win);
    else
        MPI_Win_create(own_memory, sizeof own_memory, sizeof(int), MPI_INFO_NULL, comm, &w->win);
    MPI_Win_get_group(w->win, &w->group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(world, ranks, all, w->group, w->where);
    MPI_Group_free(&world);
}

static void drop(window *w)
{
    if (w->win == MPI_WIN_NULL)
        return;
    MPI_Group_free(&w->group);
    MPI_Win_free(&w->win);
}

/* Who accesses whom is known to all. */
static void accesses(window *w, const unsigned targets[])
{
    memset(w->accessed_by, 0, sizeof w->accessed_by);
    for (int from = 0; from < ranks; from++) {
        w->targets[from] = targets[from];
        for (int to = 0; to < ranks; to++)
            w->accessed_by[to] |= (targets[from] >> to & 1) << from;
    }
}

/* The group of some ranks of the world, every other time from the last to the first. */
static MPI_Group some(const window *w, unsigned bits)
{
    static int turn;
    int list[RANKS], count = 0;
    MPI_Group group;
    turn++;
    for (int k = 0; k < ranks; k++) {
        int rank = turn % 2 ? k : ranks - 1 - k;
        if (bits >> rank & 1)
            list[count++] = w->where[rank];
    }
    MPI_Group_incl(w->group, count, list, &group);
    return group;
}

static void awaits(call *c, unsigned bits, int number)
{
    for (int rank = 0; rank < ranks; rank++)
        if (bits >> rank & 1)
            c->ids[c->count++] = (id){rank, number};
    c->received = c->count;
}

static void control(void)
{
    if (pauses)
        MPI_Pcontrol(counted = (int)dice(2));
}

static void noted(call *c)
{
    leaves(c);
    if (!counted)
        of_rank[own].calls--;
}

static void post(window *w)
{
    control();
    MPI_Group group = some(w, w->accessed_by[own]);
    w->posted = sends().number;
    if (w->accessed_by[own])
        MPI_Win_post(group, 0, w->win);
    MPI_Group_free(&group);
}

static void start(window *w)
{
    control();
    MPI_Group group = some(w, w->targets[own]);
    if (w->targets[own]) {
        call *c = enters("Win_start", 4);
        MPI_Win_start(group, 0, w->win);
        noted(c);
        awaits(c, w->targets[own], w->posted);
    }
    MPI_Group_free(&group);
}

static void put(window *w)
{
    for (int to = 0; to < ranks; to++)
        if (w->targets[own] >> to & 1)
            MPI_Put(&own, 1, MPI_INT, w->where[to], own, 1, MPI_INT, w->win);
}

static void complete(window *w)
{
    control();
    call *c = w->targets[own] ? enters("Win_complete", 4) : NULL;
    /* Right before the call: that is when the access ends. */
    w->completed = sends().number;
    if (c) {
        MPI_Win_complete(w->win);
        noted(c);
        awaits(c, w->targets[own], w->posted);
    }
}

static void wait_for(window *w, int tests)
{
    control();
    if (!w->accessed_by[own])
        return;
    for (int flag = 0; tests && !flag; pass(0.02))
        MPI_Win_test(w->win, &flag);
    if (tests)
        return;
    call *c = enters("Win_wait", 0);
    MPI_Win_wait(w->win);
    noted(c);
    awaits(c, w->accessed_by[own], w->completed);
}

/* An epoch in which this rank is late to post. */
static void posts_late(window *w, const unsigned targets[RANKS], int late)
{
    accesses(w, targets);
    if (own == late)
        pass(2);
    post(w);
    start(w);
    complete(w);
    wait_for(w, 0);
}

/* All others access the window of rank 0, which posts it late. As "plain" both windows are of memory that
   only one rank has. */
static void posts(window *w)
{
    posts_late(w, (const unsigned[RANKS]){0, 1, 1, 1}, 0);
}

/* The same without rank 0, which has no part in the window, and with rank 1 in its place. */
static void part(window *w)
{
    posts_late(w, (const unsigned[RANKS]){0, 0, 2, 2}, 1);
}

/* All others end their accesses late, the last rank last. */
static void completes(window *w)
{
    const unsigned targets[RANKS] = {0, 1, 1, 1};
    accesses(w, targets);
    post(w);
    start(w);
    put(w);
    pass(2 * own);
    complete(w);
    wait_for(w, 0);
}

/* The last rank accesses the windows of all others, which post one after the other. */
static void targets(window *w)
{
    unsigned targets[RANKS] = {0};
    targets[ranks - 1] = (1u << (ranks - 1)) - 1;
    accesses(w, targets);
    if (own < ranks - 1)
        pass(2 * (ranks - own));
    post(w);
    start(w);
    put(w);
    complete(w);
    wait_for(w, 0);
}

/* Posts come before anybody accesses, and accesses end before anybody waits. */
static void early(window *w)
{
    const unsigned targets[RANKS] = {0, 1, 1, 1};
    accesses(w, targets);
    post(w);
    MPI_Barrier(MPI_COMM_WORLD);
    start(w);
    put(w);
    complete(w);
    MPI_Barrier(MPI_COMM_WORLD);
    wait_for(w, 0);
}

/* Each rank accesses the windows of some, whenever it likes; some test until all is over. */
static void any(window *w)
{
    unsigned targets[RANKS];
    for (int rank = 0; rank < ranks; rank++)
        targets[rank] = common(1u << ranks);
    unsigned tests = common(4) ? 0 : common(1u << ranks);
    accesses(w, targets);
    pass(dice(20) / 10.);
    post(w);
    pass(dice(10) / 10.);
    start(w);
    put(w);
    pass(dice(20) / 10.);
    complete(w);
    pass(dice(10) / 10.);
    wait_for(w, tests >> own & 1);
}

/* Epochs of two windows at once, which end in another order than they began. */
static void both(window *w)
{
    for (int k = 0; k < WINDOWS; k++) {
        unsigned targets[RANKS];
        for (int rank = 0; rank < ranks; rank++)
            targets[rank] = common(1u << ranks);
        accesses(&w[k], targets);
    }
    for (int k = 0; k < WINDOWS; k++) {
        pass(dice(10) / 10.);
        post(&w[k]);
    }
    for (int k = 0; k < WINDOWS; k++) {
        pass(dice(10) / 10.);
        start(&w[WINDOWS - 1 - k]);
        put(&w[WINDOWS - 1 - k]);
    }
    for (int k = 0; k < WINDOWS; k++) {
        pass(dice(10) / 10.);
        complete(&w[k]);
    }
    for (int k = 0; k < WINDOWS; k++)
        wait_for(&w[WINDOWS - 1 - k], 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(window *);
    } cases[] = {
        {"posts", posts}, {"completes", completes}, {"targets", targets},
        {"early", early}, {"any", any},             {"both", both},
        {"plain", posts}, {"part", part},           {"paused", any},
    };
    window w[WINDOWS];
    MPI_Comm comm;
    if (argc < 4)
        return 64;
    int level, wanted = strcmp(argv[1], "both") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
    MPI_Init_thread(&argc, &argv, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    rounds = atoi(argv[3]);
    pauses = !strcmp(argv[1], "paused");
    begin_notes(argv[2]);
    int shared = strcmp(argv[1], "plain") != 0, is_part = !strcmp(argv[1], "part");
    /* Ranks from the last to the first. */
    MPI_Comm_split(MPI_COMM_WORLD, is_part && own == 0 ? MPI_UNDEFINED : 0, -own, &comm);
    make(&w[0], MPI_COMM_WORLD, 0);
    make(&w[1], comm, shared);
    together();
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int round = 0; round < rounds && !strcmp(cases[i].name, argv[1]); round++) {
            cases[i].run(is_part ? &w[1] : cases[i].run == both ? w : &w[round % WINDOWS]);
            /* MPICH 4.0 takes the post of the next epoch of a rank for that of another one in this. */
            if (cases[i].run == both || cases[i].run == any)
                MPI_Barrier(MPI_COMM_WORLD);
            if (round == rounds / 2) {
                drop(&w[1]);
                make(&w[1], comm, shared);
            }
        }
    MPI_Pcontrol(1);
    drop(&w[0]);
    drop(&w[1]);
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    end_notes();
    if (argc > 4)
        _exit(0);
    MPI_Finalize();
    return 0;
}
