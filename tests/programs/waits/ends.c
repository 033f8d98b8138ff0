/* Waits at ends, of known length: ends CASE FILE ROUNDS. All ranks come to what frees a communicator, a window or a
   file, or to MPI_Finalize, each at another time. */
#include "truth.h"

static int rounds;

static void files(void)
{
    char name[300];
    snprintf(name, sizeof name, "%s.data", getenv("ENDS_NOTES"));
    for (int i = 0; i < rounds; i++) {
        MPI_File file;
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
        late_in_turn(i);
        call *c = comes_to("File_close", 0, 0, i);
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
        late_in_turn(i);
        call *c = comes_to("Win_free", 0, 0, i);
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
            late_in_turn(i + k);
            const char *routine = k < 2 ? "Comm_free" : "Comm_disconnect";
            /* Who is alone in a communicator waits for nobody. */
            call *c = k % 2 && own == 1 ? NULL : comes_to(routine, 0, 0, i + k);
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
    static const named_case cases[] = {{"files", files}, {"windows", windows}, {"communicators", communicators}};
    if (argc < 4)
        return 64;
    setenv("ENDS_NOTES", argv[2], 1);
    rounds = begin(&argc, &argv);
    run_case(argv[1], cases, sizeof cases / sizeof *cases);
    if (!strcmp(argv[1], "finalize")) {
        /* The first rank is the last of all. ROUNDS are milliseconds. */
        pass(own == 0 ? rounds : rounds / (own + 2.));
        call *c = comes_to("Finalize", 0, 0, 0);
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
