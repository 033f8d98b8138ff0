/* The truth of waits: each rank notes when it did what in a file that all of them have mapped, and
   rank 0 adds up from that who waited how long for whom. Nothing of it goes through MPI. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { RANKS = 8, MESSAGES = 4096, CALLS = 4096, IDS = 16, ROUTINES = 32 };

/* A message says who sent it, and which of its messages it is. */
typedef struct {
    int rank, number;
} id;

typedef struct {
    double entered, left;
    char name[24];
    int kind;            /* 0 receives, 1 sends, 2 both, 3 collective, 4 waits for what was told before its end,
                            5 waits until ranks have arrived, by their ids, 6 completes a collective, 7 the same, if who was away
                            when is a matter of chance */
    int count, received; /* the first so many ids are of messages that came */
    id ids[IDS];
    int shape, root, rank, first; /* of a collective: its number is `first`; for shapes see `add_up` and `stayed` */
} call;

typedef struct {
    int sent, calls, collectives, meetings;
    double began[MESSAGES], posted[MESSAGES], arrived[CALLS];
    double went[CALLS], back[CALLS]; /* when it called no MPI after it had begun a collective */
    char host[64];
    call all[CALLS];
} notes;

static notes *of_rank;
static int own, ranks;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void pass(double milliseconds)
{
    double end = now() + milliseconds * 1e-3;
    struct timespec t = {0, (long)(milliseconds * 1e6)};
    if (milliseconds >= 1)
        nanosleep(&t, NULL);
    while (now() < end)
        ;
}

/* As if by chance, the same in every run. */
static unsigned dice(unsigned sides)
{
    static unsigned state = 0;
    if (!state)
        state = 12345 + 977 * own;
    state = state * 1664525 + 1013904223;
    return (state >> 12) % sides;
}

static void begin_notes(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(notes) * RANKS))
        exit(70);
    of_rank = mmap(NULL, sizeof(notes) * RANKS, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (of_rank == MAP_FAILED)
        exit(71);
    /* No page is touched for the first time within a call. */
    memset(&of_rank[own], 0, sizeof(notes));
    gethostname(of_rank[own].host, sizeof of_rank[own].host - 1);
}

/* A message begins. */
static id sends(void)
{
    notes *n = &of_rank[own];
    id new = {own, n->sent++};
    if (n->sent >= MESSAGES)
        exit(72);
    n->began[new.number] = now();
    return new;
}

static call *enters(const char *routine, int kind)
{
    notes *n = &of_rank[own];
    call *c = &n->all[n->calls++];
    if (n->calls >= CALLS)
        exit(73);
    snprintf(c->name, sizeof c->name, "%s", routine);
    c->kind = kind;
    c->count = 0;
    c->entered = now();
    return c;
}

static void leaves(call *c)
{
    c->left = now();
}

/* A call received a message that was posted at a time. */
static void got(call *c, id message, double posted)
{
    of_rank[message.rank].posted[message.number] = posted;
    c->ids[c->count++] = message;
    c->received = c->count;
}

/* A call waited until a message of its own could go. */
static void gave(call *c, id message)
{
    c->ids[c->count++] = message;
}

static double between(double from, double other, double to)
{
    double end = other < to ? other : to;
    return end > from ? end - from : 0;
}

/* When the last of the ranks came to a collective, from one rank to less than another, of those that came before the
   call was over. */
static double last_of(int rank, const call *c, int first, int end)
{
    double last = 0;
    for (int other = first; other < end; other++) {
        double came = of_rank[other].arrived[c->first];
        if (other != rank && came <= c->left && came > last)
            last = came;
    }
    return last;
}

/* A call stayed for who came at this time, rather than that all from `since` on was the transfer. */
static double stay(const call *c, double since, double came)
{
    return 4 * (came - since) > c->left - came ? came : since;
}

/* The wait in a collective with a root that moves much. Shape 4: from the root; 5: to the root. */
static double stayed(int rank, const call *c)
{
    double until = c->entered, came;
    if (c->shape == 4 && rank != c->root && (came = last_of(rank, c, c->root, c->root + 1)) > until)
        until = came;
    if (c->shape == 5 && rank == c->root && (came = last_of(rank, c, 0, ranks)) > until)
        until = came;
    if (c->shape == 5 && rank != c->root)
        until = stay(c, until, last_of(rank, c, c->root, c->root + 1));
    return stay(c, until, last_of(rank, c, 0, ranks)) - c->entered;
}

/* All ranks are on one host. */
static int are_together(void)
{
    for (int other = 1; other < ranks; other++)
        if (strcmp(of_rank[other].host, of_rank[0].host))
            return 0;
    return 1;
}

/* Until when a call of a collective of shape 1 to 3 stayed that moves little, and that waited until `since`: until ranks came
   for whom it need not wait, if it was over at once after that. Ranks of several hosts do not know that. */
static double stayed_little(int rank, const call *c, double since)
{
    double came[2] = {0, last_of(rank, c, 0, ranks)};
    if (c->shape == 2 && rank != c->root)
        came[0] = last_of(rank, c, c->root, c->root + 1);
    for (int i = 0; i < 2 && are_together(); i++)
        if (came[i] - since >= 4 * (c->left - came[i]) && came[i] - since > since - c->entered)
            since = came[i];
    return since;
}

/* Until when the call that completes a collective of shape 0 to 3, by its number, was held up after `since` because another
   rank was outside of MPI: until that called MPI again, if it was away for most of the time, and the call was over soon
   after. Ranks of several hosts do not know that. */
static double held(int rank, const call *c, double since)
{
    double last = since;
    if (!are_together())
        return since;
    for (int other = 0; other < ranks; other++) {
        double went = of_rank[other].went[c->first], back = of_rank[other].back[c->first];
        if (other != rank && back - went > 50e-6 && back <= c->left && back > last &&
            4 * (c->left - back) <= back - since && 4 * (back - went) >= 3 * (back - since))
            last = back;
    }
    return last;
}

static void add_up(int rank)
{
    struct {
        char name[24];
        int calls;
        double late, receiver, collective, time, held;
    } sums[ROUTINES];
    int used = 0;
    notes *n = &of_rank[rank];
    for (int i = 0; i < n->calls; i++) {
        call *c = &n->all[i];
        double late = 0, receiver = 0, collective = 0;
        for (int k = 0; k < c->count; k++) {
            notes *of = &of_rank[c->ids[k].rank];
            int number = c->ids[k].number;
            if (c->kind == 5) {
                double waited = between(c->entered, of->arrived[number], c->left);
                collective = waited > collective ? waited : collective;
                continue;
            }
            if (c->kind == 4 && of->began[number] > c->left)
                continue;
            if (k < c->received) {
                double waited = between(c->entered, of->began[number], c->left);
                late = waited > late ? waited : late;
            } else {
                /* What is over before the receive is posted went without its receiver. */
                int needed = of->posted[number] <= c->left;
                double waited = needed ? between(c->entered, of->posted[number], c->left) : 0;
                receiver = waited > receiver ? waited : receiver;
            }
        }
        /* One wait for a call: the longest. */
        if (late >= receiver)
            receiver = 0;
        else
            late = 0;
        if (c->kind == 3 && c->shape >= 4)
            collective = stayed(rank, c);
        else if (c->kind == 3 || c->kind >= 6)
            for (int other = 0; other < ranks; other++) {
                int counts = c->shape == 0 ? 1
                             : c->shape == 1 ? other == c->root && rank != c->root
                             : c->shape == 2 ? rank == c->root
                                             : other < rank;
                double came = of_rank[other].arrived[c->first];
                double waited = between(c->entered, came, c->left);
                /* Who came when the call was over was not waited for. */
                if (other != rank && counts && came <= c->left && waited > collective)
                    collective = waited;
            }
        double may = 0;
        if (c->kind == 3 && c->shape >= 1 && c->shape <= 3)
            collective = stayed_little(rank, c, c->entered + collective) - c->entered;
        if (c->kind == 6)
            collective = held(rank, c, c->entered + collective) - c->entered;
        if (c->kind == 7)
            may = c->left - c->entered - collective;
        int at = 0;
        while (at < used && strcmp(sums[at].name, c->name))
            at++;
        if (at == used) {
            memset(&sums[used], 0, sizeof sums[used]);
            strcpy(sums[used++].name, c->name);
        }
        sums[at].calls++;
        sums[at].late += late;
        sums[at].receiver += receiver;
        sums[at].collective += collective;
        sums[at].held += may;
        sums[at].time += c->left - c->entered;
    }
    for (int at = 0; at < used; at++)
        printf("truth %d %s %d %.9f %.9f %.9f %.9f %.9f\n", rank, sums[at].name, sums[at].calls, sums[at].late,
               sums[at].receiver, sums[at].collective, sums[at].time, sums[at].held);
}

/* All are here. By a function that no case tells the truth of. */
static void together(void)
{
    int in = own, out[RANKS];
    MPI_Allgather(&in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
}

/* All are here, and no call of MPI has waited for that. */
static inline void meet_outside(void)
{
    int meeting = __atomic_add_fetch(&of_rank[own].meetings, 1, __ATOMIC_RELEASE);
    for (int rank = 0; rank < ranks; rank++)
        while (__atomic_load_n(&of_rank[rank].meetings, __ATOMIC_ACQUIRE) < meeting)
            usleep(20);
}

static void end_notes(void)
{
    together();
    if (own == 0)
        for (int rank = 0; rank < ranks; rank++)
            add_up(rank);
    fflush(stdout);
}

/* A rank comes to a collective of this number: who waits for whom by its shape, see `stayed`. */
static inline call *comes_to(const char *routine, int shape, int root, int number)
{
    call *c = enters(routine, 3);
    c->shape = shape;
    c->root = root;
    c->first = number;
    of_rank[own].arrived[number] = c->entered;
    return c;
}

/* Each time another rank is late. */
static inline void late_in_turn(int round)
{
    pass(own == round % ranks ? 15 : dice(10) / 10.);
}

/* A case of a program. */
typedef struct {
    const char *name;
    void (*run)(void);
} named_case;

/* Runs the case of this name, if there is one, and adds up its waits. */
static inline void run_case(const char *name, const named_case *cases, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!strcmp(cases[i].name, name)) {
            cases[i].run();
            end_notes();
        }
}

/* The beginning of a program that is called with CASE FILE ROUNDS: MPI, the notes in FILE, and all ranks together. Returns
   ROUNDS. */
static int begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    begin_notes((*argv)[2]);
    together();
    return atoi((*argv)[3]);
}
