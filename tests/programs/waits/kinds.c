/* Waits of known length in calls of rarer kinds: kinds CASE FILE ROUNDS. Rank 0 sends late. */
#include <pthread.h>

#include "truth.h"

static int rounds;
static pthread_mutex_t noting = PTHREAD_MUTEX_INITIALIZER;

enum { N = 4 };

/* Requests that are started all at once, again and again; every other receive is wild. */
static void startall(void)
{
    MPI_Request r[N];
    id m[N];
    for (int k = 0; k < N && own < 2; k++)
        if (own == 0)
            MPI_Send_init(&m[k], 2, MPI_INT, 1, k, MPI_COMM_WORLD, &r[k]);
        else
            MPI_Recv_init(&m[k], 2, MPI_INT, k % 2 ? MPI_ANY_SOURCE : 0, k, MPI_COMM_WORLD, &r[k]);
    for (int i = 0; i < rounds && own < 2; i++)
        if (own == 0) {
            pass(2);
            for (int k = 0; k < N; k++)
                m[k] = sends();
            MPI_Startall(N, r);
            MPI_Waitall(N, r, MPI_STATUSES_IGNORE);
        } else {
            double posted = now();
            MPI_Startall(N, r);
            for (int left = N; left > 0;) {
                int done = N, which[N] = {0, 1, 2, 3};
                call *c = enters(i % 2 ? "Waitsome" : "Waitall", 0);
                if (i % 2)
                    MPI_Waitsome(N, r, &done, which, MPI_STATUSES_IGNORE);
                else
                    MPI_Waitall(N, r, MPI_STATUSES_IGNORE);
                leaves(c);
                for (int k = 0; k < done; k++)
                    got(c, m[which[k]], posted);
                left -= done;
            }
        }
    for (int k = 0; k < N && own < 2; k++)
        MPI_Request_free(&r[k]);
}

/* Requests that are tested until all are over. What it is then waited for is told as ever. (What is told of the tests
   themselves is the matter of polls.c.) */
static void tests(void)
{
    for (int i = 0; i < rounds && own < 2; i++)
        if (own == 0) {
            pass(1);
            for (int k = 0; k < N; k++) {
                id m = sends();
                MPI_Send(&m, 2, MPI_INT, 1, k, MPI_COMM_WORLD);
            }
            pass(1);
            id m = sends();
            MPI_Send(&m, 2, MPI_INT, 1, N, MPI_COMM_WORLD);
        } else {
            MPI_Request r[N];
            id m[N], last;
            double posted = now();
            for (int k = 0; k < N; k++)
                MPI_Irecv(&m[k], 2, MPI_INT, i % 2 ? 0 : MPI_ANY_SOURCE, k, MPI_COMM_WORLD, &r[k]);
            for (int left = N; left > 0;) {
                int done = 0, flag = 0, which[N] = {0, 1, 2, 3};
                call *c = enters("tests", 0);
                if (i % 4 == 0) {
                    which[0] = N - left;
                    MPI_Test(&r[N - left], &flag, MPI_STATUS_IGNORE);
                } else if (i % 4 == 1)
                    MPI_Testany(N, r, which, &flag, MPI_STATUS_IGNORE);
                else if (i % 4 == 2)
                    MPI_Testsome(N, r, &done, which, MPI_STATUSES_IGNORE);
                else
                    MPI_Testall(N, r, &flag, MPI_STATUSES_IGNORE);
                leaves(c);
                if (i % 4 != 2)
                    done = flag ? (i % 4 == 3 ? N : 1) : 0;
                for (int k = 0; k < done; k++)
                    got(c, m[which[k]], posted);
                left -= done;
                if (!done)
                    of_rank[own].calls--;
                pass(0.02);
            }
            call *c = enters("Recv", 0);
            MPI_Recv(&last, 2, MPI_INT, 0, N, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            leaves(c);
            got(c, last, c->entered);
        }
}

/* A receive that is freed while it goes on takes its message, and its number. */
static void freed(void)
{
    static id lost[CALLS];
    for (int i = 0; i < rounds && own < 2; i++)
        if (own == 0) {
            for (int k = 0; k < 2; k++) {
                pass(1);
                id m = sends();
                MPI_Send(&m, 2, MPI_INT, 1, 7, MPI_COMM_WORLD);
            }
            MPI_Recv(NULL, 0, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            id m;
            MPI_Request r;
            MPI_Irecv(&lost[i], 2, MPI_INT, 0, 7, MPI_COMM_WORLD, &r);
            MPI_Request_free(&r);
            call *c = enters("Recv", 0);
            MPI_Recv(&m, 2, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            leaves(c);
            got(c, m, c->entered);
            MPI_Send(NULL, 0, MPI_INT, 0, 8, MPI_COMM_WORLD);
        }
}

/* Collectives in which a rank waits for those of lower ranks. */
static void scans(void)
{
    for (int i = 0; i < rounds; i++) {
        int in = own, out = 0;
        pass(dice(30) / 10.);
        call *c = enters(i % 2 ? "Exscan" : "Scan", 3);
        c->shape = 3;
        c->first = i;
        of_rank[own].arrived[i] = c->entered;
        if (i % 2)
            MPI_Exscan(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        else
            MPI_Scan(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        leaves(c);
    }
}

/* Collectives of neighbours between messages: these are told as ever. */
static void neighbours(void)
{
    int periodic = 1, in[2], out[2] = {own, own};
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
    for (int i = 0; i < rounds; i++) {
        pass(dice(20) / 10.);
        MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring);
        MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, ring);
        if (own == 0)
            for (int to = 1; to < ranks; to++) {
                pass(1);
                id m = sends();
                MPI_Send(&m, 2, MPI_INT, to, 7, ring);
            }
        else {
            id m;
            call *c = enters("Recv", 0);
            MPI_Recv(&m, 2, MPI_INT, 0, 7, ring, MPI_STATUS_IGNORE);
            leaves(c);
            got(c, m, c->entered);
        }
    }
    MPI_Comm_free(&ring);
}

/* A thread that sends late, or receives, with a tag of its own. */
static void *thread(void *other)
{
    int tag = *(int *)other;
    for (int i = 0; i < rounds; i++) {
        id m;
        if (own == 0) {
            pass(tag);
            pthread_mutex_lock(&noting);
            m = sends();
            pthread_mutex_unlock(&noting);
            MPI_Send(&m, 2, MPI_INT, 1, tag, MPI_COMM_WORLD);
        } else {
            pthread_mutex_lock(&noting);
            call *c = enters("Recv", 0);
            pthread_mutex_unlock(&noting);
            MPI_Recv(&m, 2, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            leaves(c);
            got(c, m, c->entered);
        }
    }
    return NULL;
}

static void threads(void)
{
    pthread_t other;
    int tags[2] = {1, 2};
    if (own > 1)
        return;
    if (pthread_create(&other, NULL, thread, &tags[0]))
        exit(75);
    thread(&tags[1]);
    pthread_join(other, NULL);
}

/* Two threads that send with one tag: which message is whose stamp may not be known. */
static void *sender(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        pass(0.3);
        pthread_mutex_lock(&noting);
        id m = sends();
        pthread_mutex_unlock(&noting);
        MPI_Send(&m, 2, MPI_INT, 1, 5, MPI_COMM_WORLD);
    }
    return unused;
}

static void onekey(void)
{
    pthread_t other;
    if (own == 0) {
        if (pthread_create(&other, NULL, sender, NULL))
            exit(75);
        sender(NULL);
        pthread_join(other, NULL);
    } else if (own == 1) {
        static char came[MESSAGES];
        for (int i = 0; i < 2 * rounds; i++) {
            id m;
            call *c = enters("Recv", 0);
            MPI_Recv(&m, 2, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            leaves(c);
            got(c, m, c->entered);
            if (came[m.number]++)
                exit(76);
        }
    }
}

/* What came with MPI 4: a started Sendrecv, partitioned messages between others, and communicators
   of a session. */
static void fourth(void)
{
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "kinds", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    for (int i = 0; i < rounds && own < 2; i++) {
        int parts[N] = {0};
        MPI_Request r;
        id out, in;
        if (i % 3 == 0) {
            if (own == 0)
                MPI_Psend_init(parts, N, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
            else
                MPI_Precv_init(parts, N, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
            MPI_Start(&r);
            for (int k = 0; k < N && own == 0; k++)
                MPI_Pready(k, r);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
            MPI_Request_free(&r);
        }
        if (own == 0)
            pass(1);
        double posted = now();
        out = sends();
        if (i % 2) {
            call *c = enters("Sendrecv", 2);
            MPI_Sendrecv(&out, 2, MPI_INT, 1 - own, 3, &in, 2, MPI_INT, 1 - own, 3, comm,
                         MPI_STATUS_IGNORE);
            leaves(c);
            got(c, in, c->entered);
            continue;
        }
        MPI_Isendrecv(&out, 2, MPI_INT, 1 - own, 3, &in, 2, MPI_INT, 1 - own, 3, MPI_COMM_WORLD,
                      &r);
        call *c = enters("Wait", 2);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        leaves(c);
        got(c, in, posted);
    }
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
#else
    int tag = 1;
    thread(&tag);
#endif
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"startall", startall}, {"tests", tests},           {"freed", freed},     {"scans", scans},
        {"threads", threads},   {"neighbours", neighbours}, {"fourth", fourth},
        {"onekey", onekey},
    };
    int level;
    if (argc < 4)
        return 64;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    rounds = atoi(argv[3]);
    begin_notes(argv[2]);
    together();
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(cases[i].name, argv[1]))
            cases[i].run();
    end_notes();
    MPI_Finalize();
    return 0;
}
