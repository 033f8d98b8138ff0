/* Programs that ask again and again until a message is there: polls CASE FILE ROUNDS. Rank 1 asks, and notes how long it
   was inside of calls before the other side began. These are the seconds that it waited. */
#include "truth.h"

enum { N = 4, LARGE = 4 << 20, VAIN = 1 << 21 };

static int rounds, vain_calls, answers;
static double vain[VAIN][2];
/* Seconds waited; the same if all time from the beginning of the other side to the last call in vain had been in such
   calls; seconds of all calls that asked. */
static double waited, least, asked;
static const char *routine;
static double gap;
static char large[LARGE];

/* Nothing was there. */
static void in_vain(double entered, double left)
{
    if (vain_calls >= VAIN)
        exit(77);
    vain[vain_calls][0] = entered;
    vain[vain_calls++][1] = left;
    asked += left - entered;
    if (gap > 0)
        pass(gap);
}

/* A call found what it asked for, on which the other side had begun at a time. */
static void found(double entered, double left, double began)
{
    double own = between(entered, began, left), before = 0, in_all = 0;
    for (int i = 0; i < vain_calls; i++) {
        before += between(vain[i][0], began, vain[i][1]);
        in_all += vain[i][1] - vain[i][0];
    }
    if (vain_calls && vain[vain_calls - 1][1] > began)
        in_all -= vain[vain_calls - 1][1] - began;
    vain_calls = 0;
    waited += own + before;
    least += own + (in_all > 0 ? in_all : 0);
    asked += left - entered;
    answers++;
}

static double began_of(id m)
{
    return of_rank[m.rank].began[m.number];
}

/* Rank 0 sends late. */
static void late(int tag, int count)
{
    pass(4);
    id m = sends();
    memcpy(large, &m, sizeof m);
    MPI_Send(large, count, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
}

static void one(int source, int count)
{
    for (int i = 0; i < rounds; i++)
        if (own == 0)
            late(i % 3, count);
        else if (own == 1) {
            MPI_Request r;
            int flag = 0;
            MPI_Irecv(large, count, MPI_BYTE, source, i % 3, MPI_COMM_WORLD, &r);
            while (!flag) {
                double entered = now();
                MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
                double left = now();
                id m;
                memcpy(&m, large, sizeof m);
                if (flag)
                    found(entered, left, began_of(m));
                else
                    in_vain(entered, left);
            }
        }
}

static void spin(void)
{
    one(0, sizeof(id));
}

static void sparse(void)
{
    gap = 0.1;
    one(0, sizeof(id));
}

static void wild(void)
{
    one(MPI_ANY_SOURCE, sizeof(id));
}

static void size(void)
{
    one(0, LARGE);
}

/* Several requests, of which one, some or all are over. */
static void several(void)
{
    for (int i = 0; i < rounds; i++)
        if (own == 0)
            for (int k = 0; k < N; k++)
                late(k, sizeof(id));
        else if (own == 1) {
            MPI_Request r[N];
            id m[N];
            for (int k = 0; k < N; k++)
                MPI_Irecv(&m[k], sizeof *m, MPI_BYTE, 0, k, MPI_COMM_WORLD, &r[k]);
            for (int left = N; left > 0;) {
                int done = N, flag = 0, which[N] = {0, 1, 2, 3};
                double entered = now(), last = 0;
                if (!strcmp(routine, "Testany")) {
                    MPI_Testany(N, r, which, &flag, MPI_STATUS_IGNORE);
                    done = flag ? 1 : 0;
                } else if (!strcmp(routine, "Testsome"))
                    MPI_Testsome(N, r, &done, which, MPI_STATUSES_IGNORE);
                else {
                    MPI_Testall(N, r, &flag, MPI_STATUSES_IGNORE);
                    done = flag ? N : 0;
                }
                double ended = now();
                for (int k = 0; k < done; k++)
                    last = began_of(m[which[k]]) > last ? began_of(m[which[k]]) : last;
                if (done)
                    found(entered, ended, last);
                else
                    in_vain(entered, ended);
                left -= done;
            }
        }
}

/* Messages that are looked for before they are received. */
static void probe(void)
{
    for (int i = 0; i < rounds; i++)
        if (own == 0)
            late(5, sizeof(id));
        else if (own == 1) {
            int flag = 0;
            double entered, left;
            id m;
            MPI_Message message;
            MPI_Status status;
            for (;;) {
                entered = now();
                if (!strcmp(routine, "Improbe"))
                    MPI_Improbe(i % 2 ? 0 : MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, &message, &status);
                else
                    MPI_Iprobe(i % 2 ? 0 : MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, &status);
                left = now();
                if (flag)
                    break;
                in_vain(entered, left);
            }
            if (!strcmp(routine, "Improbe"))
                MPI_Mrecv(&m, sizeof m, MPI_BYTE, &message, MPI_STATUS_IGNORE);
            else
                MPI_Recv(&m, sizeof m, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &status);
            found(entered, left, began_of(m));
        }
}

#if MPI_VERSION >= 4
/* A partitioned message, whose last partition comes late. */
static void parts(void)
{
    enum { PARTS = 4 };
    static id m[PARTS];
    MPI_Request r;
    if (own == 0)
        MPI_Psend_init(m, PARTS, sizeof *m, MPI_BYTE, 1, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    else
        MPI_Precv_init(m, PARTS, sizeof *m, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    for (int i = 0; i < rounds; i++) {
        MPI_Start(&r);
        if (own == 0) {
            MPI_Pready_range(0, PARTS - 2, r);
            pass(4);
            m[PARTS - 1] = sends();
            MPI_Pready(PARTS - 1, r);
        } else {
            for (int flag = 0; !flag;) {
                double entered = now();
                MPI_Parrived(r, PARTS - 1, &flag);
                double left = now();
                if (flag)
                    found(entered, left, began_of(m[PARTS - 1]));
                else
                    in_vain(entered, left);
            }
            int flag;
            MPI_Parrived(r, 0, &flag);
        }
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&r);
}
#endif

/* A collective, to which rank 0 comes late. */
static void collective(void)
{
    for (int i = 0; i < rounds; i++) {
        MPI_Request r;
        int flag = 0;
        if (own == 0)
            pass(4);
        of_rank[own].arrived[i] = now();
        MPI_Ibarrier(MPI_COMM_WORLD, &r);
        while (!flag) {
            double entered = now();
            MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
            double left = now();
            if (own != 1)
                continue;
            if (flag)
                found(entered, left, of_rank[0].arrived[i]);
            else
                in_vain(entered, left);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name, *routine;
        void (*run)(void);
    } cases[] = {
        {"spin", "Test", spin},          {"sparse", "Test", sparse},    {"wild", "Test", wild},
        {"size", "Test", size},          {"any", "Testany", several},   {"some", "Testsome", several},
        {"all", "Testall", several},     {"probe", "Iprobe", probe},    {"mprobe", "Improbe", probe},
        {"collective", "Test", collective},
#if MPI_VERSION >= 4
        {"parts", "Parrived", parts},
#endif
    };
    if (argc < 4)
        return 64;
    rounds = begin(&argc, &argv);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(cases[i].name, argv[1])) {
            routine = cases[i].routine;
            cases[i].run();
            int is_collective = !strcmp(argv[1], "collective");
            if (own == 1)
                printf("truth 1 %s %d %.9f %.9f %.9f %.9f\n", routine, answers, is_collective ? 0 : waited,
                       least, is_collective ? waited : 0, asked);
        }
    fflush(stdout);
    together();
    MPI_Finalize();
    return 0;
}
