/* Waits at ends, of known length: ends CASE FILE ROUNDS. All ranks come to what frees a communicator, a window or a
   file, or to MPI_Finalize, each at another time. */
#include "truth.h"

static int rounds;

/* The rank comes to a call that is the n-th of its kind. */
static call *arrives(const char *routine, int round)
{
    call *c = enters(routine, 3);
    c->shape = 0;
    c->first = round;
    of_rank[own].arrived[round] = c->entered;
    return c;
}

/* Each time another rank is late. */
static void late(int round)
{
    pass(own == round % ranks ? 15 : dice(10) / 10.);
}

static void files(void)
{
    char name[300];
    snprintf(name, sizeof name, "%s.data", getenv("ENDS_NOTES"));
    for (int i = 0; i < rounds; i++) {
        MPI_File file;
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
        late(i);
        call *c = arrives("File_close", i);
        MPI_File_close(&file);
        leaves(c);
    }
}

static void windows(void)
{
    static int memory[4];
    for (int i = 0; i < rounds; i++) {
        MPI_Win window;
        MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        late(i);
        call *c = arrives("Win_free", i);
        MPI_Win_free(&window);
        leaves(c);
    }
}

/* Communicators of all ranks in another order, and of all but one, of which many are there at the same time. */
static void communicators(void)
{
    enum { MANY = 4 };
    for (int i = 0; i < rounds; i += MANY) {
        MPI_Comm all[MANY];
        for (int k = 0; k < MANY; k++)
            MPI_Comm_split(MPI_COMM_WORLD, k % 2 && own == 1, -own, &all[k]);
        for (int k = MANY - 1; k >= 0; k--) {
            late(i + k);
            const char *routine = k < 2 ? "Comm_free" : "Comm_disconnect";
            /* Who is alone in a communicator waits for nobody. */
            call *c = k % 2 && own == 1 ? NULL : arrives(routine, i + k);
            if (!c)
                of_rank[own].arrived[i + k] = 0;
            if (k < 2)
                MPI_Comm_free(&all[k]);
            else
                MPI_Comm_disconnect(&all[k]);
            if (c)
                leaves(c);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"files", files}, {"windows", windows}, {"communicators", communicators}};
    if (argc < 4)
        return 64;
    setenv("ENDS_NOTES", argv[2], 1);
    rounds = begin(&argc, &argv);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(cases[i].name, argv[1])) {
            cases[i].run();
            end_notes();
        }
    if (!strcmp(argv[1], "finalize")) {
        /* The first rank is the last of all. ROUNDS are milliseconds. */
        pass(own == 0 ? rounds : rounds / (own + 2.));
        call *c = arrives("Finalize", 0);
        /* It is over for nobody before all are there. */
        c->left = c->entered + 1e9;
        MPI_Finalize();
        if (own == 0)
            for (int rank = 0; rank < ranks; rank++)
                add_up(rank);
        return 0;
    }
    MPI_Finalize();
    return 0;
}
