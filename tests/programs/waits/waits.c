/* Waits of known length: waits CASE FILE ROUNDS [_exit], with which no rank comes to MPI_Finalize. */
#include "truth.h"

static int rounds;
static char path[4096];
static char large[2][1 << 20];

/* Rank 0 sends late, the others receive. */
static void late_recv(void)
{
    for (int i = 0; i < rounds; i++)
        if (own == 0) {
            for (int to = 1; to < ranks; to++) {
                pass(1);
                id m = sends();
                MPI_Send(&m, 2, MPI_INT, to, 7, MPI_COMM_WORLD);
            }
        } else {
            id m;
            call *c = enters("Recv", 0);
            MPI_Recv(&m, 2, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            leaves(c);
            got(c, m, c->entered);
        }
}

/* The receiver is late, the message is small and waits for it. */
static void late_receiver_small(void)
{
    for (int i = 0; i < rounds; i++)
        if (own == 0) {
            id m = sends();
            call *c = enters("Send", 1);
            MPI_Send(&m, 2, MPI_INT, 1, 7, MPI_COMM_WORLD);
            leaves(c);
            gave(c, m);
        } else if (own == 1) {
            id m;
            pass(2);
            call *c = enters("Recv", 0);
            MPI_Recv(&m, 2, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            leaves(c);
            got(c, m, c->entered);
        }
}

/* The same, with messages that wait for their receiver, in three ways to send. */
static void late_receiver(void)
{
    for (int i = 0; i < rounds; i++)
        if (own == 0) {
            id m = sends();
            memcpy(large[0], &m, sizeof m);
            MPI_Request r;
            call *c;
            switch (i % 3) {
            case 0:
                c = enters("Send", 1);
                MPI_Send(large[0], sizeof large[0], MPI_BYTE, 1, 7, MPI_COMM_WORLD);
                break;
            case 1:
                c = enters("Ssend", 1);
                MPI_Ssend(large[0], 8, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
                break;
            default:
                MPI_Isend(large[0], sizeof large[0], MPI_BYTE, 1, 7, MPI_COMM_WORLD, &r);
                pass(0.3);
                c = enters("Wait", 1);
                MPI_Wait(&r, MPI_STATUS_IGNORE);
            }
            leaves(c);
            gave(c, m);
        } else if (own == 1) {
            id m;
            pass(2);
            call *c = enters("Recv", 0);
            MPI_Recv(large[0], sizeof large[0], MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            leaves(c);
            memcpy(&m, large[0], sizeof m);
            got(c, m, c->entered);
        }
}

/* Receives are posted, something is computed, then it is waited. */
static void late_wait(void)
{
    for (int i = 0; i < rounds; i++)
        if (own == 0) {
            pass(2);
            id m = sends();
            MPI_Send(&m, 2, MPI_INT, 1, 7, MPI_COMM_WORLD);
        } else if (own == 1) {
            id m;
            MPI_Request r;
            double posted = now();
            MPI_Irecv(&m, 2, MPI_INT, 0, 7, MPI_COMM_WORLD, &r);
            pass(i % 4);
            call *c = enters("Wait", 0);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
            leaves(c);
            got(c, m, posted);
        }
}

/* Four messages, all late: one wait. Every other time the receives are wild. */
static void late_waitall(void)
{
    enum { N = 4 };
    for (int i = 0; i < rounds; i++)
        if (own == 0) {
            pass(2);
            for (int k = 0; k < N; k++) {
                id m = sends();
                MPI_Send(&m, 2, MPI_INT, 1, k, MPI_COMM_WORLD);
                pass(0.1);
            }
        } else if (own == 1) {
            id m[N];
            MPI_Request r[N];
            double posted[N];
            for (int k = 0; k < N; k++) {
                posted[k] = now();
                MPI_Irecv(&m[k], 2, MPI_INT, i % 2 ? MPI_ANY_SOURCE : 0, i % 2 ? MPI_ANY_TAG : k,
                          MPI_COMM_WORLD, &r[k]);
            }
            call *c = enters("Waitall", 0);
            MPI_Waitall(N, r, MPI_STATUSES_IGNORE);
            leaves(c);
            for (int k = 0; k < N; k++)
                got(c, m[k], posted[k]);
        }
}

/* Receives that are completed in another order than posted, a wild one in front. */
static void late_order(void)
{
    enum { N = 4 };
    for (int i = 0; i < rounds; i++)
        if (own == 0) {
            for (int k = N - 1; k >= 0; k--) {
                pass(1);
                id m = sends();
                MPI_Send(&m, 2, MPI_INT, 1, i % 2 ? 3 : k, MPI_COMM_WORLD);
            }
        } else if (own == 1) {
            id m[N];
            MPI_Request r[N];
            double posted[N];
            for (int k = 0; k < N; k++) {
                posted[k] = now();
                MPI_Irecv(&m[k], 2, MPI_INT, k ? 0 : MPI_ANY_SOURCE, i % 2 ? 3 : k, MPI_COMM_WORLD,
                          &r[k]);
            }
            for (int k = N; k > 0; k--) {
                int which = i % 4 < 2 ? k - 1 : 0;
                call *c = enters(i % 4 < 2 ? "Wait" : "Waitany", 0);
                if (i % 4 < 2)
                    MPI_Wait(&r[which], MPI_STATUS_IGNORE);
                else
                    MPI_Waitany(N, r, &which, MPI_STATUS_IGNORE);
                leaves(c);
                got(c, m[which], posted[which]);
            }
        }
}

/* All send to rank 0 when they like; that takes whatever comes. */
static void late_any(void)
{
    if (own)
        for (int i = 0; i < rounds; i++) {
            pass(1 + dice(20) / 10.);
            id m = sends();
            MPI_Send(&m, 2, MPI_INT, 0, dice(3), MPI_COMM_WORLD);
        }
    else
        for (int i = 0; i < rounds * (ranks - 1); i++) {
            id m;
            MPI_Status s;
            MPI_Message message;
            if (i % 5 == 4)
                pass(2);
            double posted = now();
            call *c;
            if (i % 3 == 0) {
                c = enters("Mprobe", 0);
                MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &s);
                leaves(c);
                MPI_Mrecv(&m, 2, MPI_INT, &message, MPI_STATUS_IGNORE);
            } else if (i % 3 == 1) {
                c = enters("Probe", 0);
                MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
                leaves(c);
                MPI_Recv(&m, 2, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            } else {
                c = enters("Recv", 0);
                MPI_Recv(&m, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
                leaves(c);
            }
            got(c, m, posted);
        }
}

/* A ring in communicators whose ranks are in another order, with requests that are started again;
   communicators come and go. */
static void late_ring(void)
{
    MPI_Comm parts, comm;
    MPI_Comm_split(MPI_COMM_WORLD, own % 2, -own, &parts);
    for (int i = 0; i < rounds; i++) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? own : -own, &comm);
        int rank;
        MPI_Comm_rank(comm, &rank);
        int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
        id in, out;
        MPI_Request r;
        MPI_Recv_init(&in, 2, MPI_INT, i % 3 ? before : MPI_ANY_SOURCE, 5, comm, &r);
        for (int k = 0; k < 3; k++) {
            double posted = now();
            MPI_Start(&r);
            pass(dice(20) / 10.);
            out = sends();
            MPI_Send(&out, 2, MPI_INT, next, 5, comm);
            call *c = enters("Wait", 0);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
            leaves(c);
            got(c, in, posted);
        }
        MPI_Request_free(&r);
        pass(dice(20) / 10.);
        out = sends();
        call *c = enters("Sendrecv", 2);
        MPI_Sendrecv(&out, 2, MPI_INT, next, 6, &in, 2, MPI_INT, before, 6, comm,
                     MPI_STATUS_IGNORE);
        leaves(c);
        got(c, in, c->entered);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_free(&parts);
}

/* Four kinds of collectives, whose ranks come when they like, and whose root moves. */
static void collectives(void)
{
    static const char *names[] = {"Barrier", "Bcast", "Reduce", "Scan", "Allreduce"};
    static const int shapes[] = {0, 1, 2, 3, 0};
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < rounds; i++) {
        int which = i % 5, in = own, out = 0, root = (i / 5) % ranks;
        pass(dice(30) / 10.);
        call *c = enters(names[which], 3);
        c->shape = shapes[which];
        c->root = root;
        c->first = i;
        of_rank[own].arrived[i] = c->entered;
        switch (which) {
        case 0:
            MPI_Barrier(comm);
            break;
        case 1:
            MPI_Bcast(&in, 1, MPI_INT, root, comm);
            break;
        case 2:
            MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, root, comm);
            break;
        case 3:
            MPI_Scan(&in, &out, 1, MPI_INT, MPI_SUM, comm);
            break;
        default:
            MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
        }
        leaves(c);
        if (i % 50 == 49) {
            MPI_Comm_free(&comm);
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        }
    }
    MPI_Comm_free(&comm);
}

/* The same, started: something is computed before it is waited. The first ones are on a communicator
   on which nobody has waited for all others before. */
static void started(void)
{
    static const int shapes[] = {0, 1, 2, 0};
    MPI_Comm comm = MPI_COMM_WORLD;
    for (int i = 0; i < rounds; i++) {
        if (i == rounds / 2)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        int which = i % 4, in = own, out = 0, root = (i / 4) % ranks;
        MPI_Request r;
        pass(dice(30) / 10.);
        of_rank[own].arrived[i] = now();
        switch (which) {
        case 0:
            MPI_Ibarrier(comm, &r);
            break;
        case 1:
            MPI_Ibcast(&in, 1, MPI_INT, root, comm, &r);
            break;
        case 2:
            MPI_Ireduce(&in, &out, 1, MPI_INT, MPI_SUM, root, comm, &r);
            break;
        default:
            MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm, &r);
        }
        pass(dice(10) / 10.);
        call *c = enters("Wait", 7);
        c->shape = shapes[which];
        c->root = root;
        c->first = i;
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        leaves(c);
    }
    MPI_Comm_free(&comm);
}

/* In turn a rank computes long before it completes what it has begun with the others at the same time. */
static void held_up(void)
{
    for (int i = 0; i < rounds; i++) {
        int in = own, out = 0;
        MPI_Request r;
        of_rank[own].arrived[i] = now();
        MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
        of_rank[own].went[i] = now();
        pass(own == i / 4 % ranks ? 12 : 1);
        call *c = enters("Wait", 6);
        of_rank[own].back[i] = c->entered;
        c->shape = 0;
        c->first = i;
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        leaves(c);
    }
}

/* What all of a window, a file, a communicator do. */
static void groups(void)
{
    static int memory[4];
    static const char *names[] = {"Win_fence", "File_write_at_all", "Comm_dup"};
    MPI_Win win;
    MPI_File file;
    MPI_Comm comm;
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file))
        exit(74);
    for (int i = 0; i < rounds; i++) {
        pass(dice(30) / 10.);
        call *c = enters(names[i % 3], 3);
        c->shape = 0;
        c->first = i;
        of_rank[own].arrived[i] = c->entered;
        switch (i % 3) {
        case 0:
            MPI_Win_fence(0, win);
            break;
        case 1:
            MPI_File_write_at_all(file, 4 * own, &own, 1, MPI_INT, MPI_STATUS_IGNORE);
            break;
        default:
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        }
        leaves(c);
        if (i % 3 == 2)
            MPI_Comm_free(&comm);
    }
    MPI_File_close(&file);
    MPI_Win_free(&win);
}

/* Rank 0 sends late, in communicators that groups made: two of the same members and tag, and one
   between two groups. */
static void made(void)
{
    MPI_Comm comm[3];
    MPI_Group group;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &comm[0]);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &comm[1]);
    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - own, 9, &comm[2]);
    for (int i = 0; i < rounds; i++) {
        int which = i % 3;
        if (own == 0) {
            pass(1);
            id m = sends();
            MPI_Send(&m, 2, MPI_INT, which == 2 ? 0 : 1, 7, comm[which]);
        } else {
            id m;
            call *c = enters("Recv", 0);
            MPI_Recv(&m, 2, MPI_INT, 0, 7, comm[which], MPI_STATUS_IGNORE);
            leaves(c);
            got(c, m, c->entered);
        }
    }
    for (int k = 0; k < 3; k++)
        MPI_Comm_free(&comm[k]);
    MPI_Group_free(&group);
}

/* The same where messages may overtake each other, so that their numbers mean nothing. */
static void overtakes(void)
{
    MPI_Comm comm;
    MPI_Info info;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_allow_overtaking", "true");
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
    /* Open MPI 4.1 never matches a message that comes before its receiver has set the info. */
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < rounds; i++)
        if (own == 0) {
            pass(1);
            MPI_Send(&i, 1, MPI_INT, 1, 7, comm);
        } else if (own == 1) {
            int m;
            call *c = enters("Recv", 0);
            MPI_Recv(&m, 1, MPI_INT, 0, 7, comm, MPI_STATUS_IGNORE);
            leaves(c);
        }
    MPI_Comm_free(&comm);
}

/* Receives that are cancelled do not make those after them wrong. */
static void cancelled(void)
{
    for (int i = 0; i < rounds; i++)
        if (own == 0) {
            pass(2);
            id m = sends();
            MPI_Send(&m, 2, MPI_INT, 1, 7, MPI_COMM_WORLD);
            MPI_Recv(NULL, 0, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (own == 1) {
            id m;
            MPI_Request r;
            int gone = 1;
            if (i % 3 == 0) {
                MPI_Status s;
                double posted = now();
                MPI_Irecv(&m, 2, MPI_INT, i % 2 ? 0 : MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &r);
                MPI_Cancel(&r);
                call *c = enters("Wait", 0);
                MPI_Wait(&r, &s);
                leaves(c);
                /* It may have come before. */
                MPI_Test_cancelled(&s, &gone);
                if (!gone)
                    got(c, m, posted);
            }
            if (gone) {
                call *c = enters("Recv", 0);
                MPI_Recv(&m, 2, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                leaves(c);
                got(c, m, c->entered);
            }
            MPI_Send(NULL, 0, MPI_INT, 0, 8, MPI_COMM_WORLD);
        }
}

/* Rank 0 sends to rank 2, which posts its receive long after, and receives from rank 1, which is late. Some MPIs
   let the message go, so that rank 0 waits for rank 1 only; with others it waits for rank 2. */
static void early(void)
{
    enum { SIZE = 8000 };
    for (int i = 0; i < rounds; i++) {
        id in, out;
        if (own == 0) {
            out = sends();
            memcpy(large[0], &out, sizeof out);
            call *c = enters("Sendrecv", 2);
            MPI_Sendrecv(large[0], SIZE, MPI_BYTE, 2, 7, large[1], SIZE, MPI_BYTE, 1, 7, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            leaves(c);
            memcpy(&in, large[1], sizeof in);
            got(c, in, c->entered);
            gave(c, out);
        } else if (own == 1) {
            pass(2);
            out = sends();
            memcpy(large[0], &out, sizeof out);
            MPI_Send(large[0], SIZE, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
        } else {
            pass(6);
            double posted = now();
            MPI_Recv(large[1], SIZE, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            memcpy(&in, large[1], sizeof in);
            of_rank[in.rank].posted[in.number] = posted;
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"recv", late_recv},       {"small", late_receiver_small}, {"receiver", late_receiver},
        {"wait", late_wait},       {"waitall", late_waitall},      {"order", late_order},
        {"any", late_any},         {"ring", late_ring},            {"collectives", collectives},
        {"cancelled", cancelled},  {"started", started},           {"groups", groups},
        {"held up", held_up},
        {"made", made},            {"overtakes", overtakes},       {"early", early},
    };
    if (argc < 4)
        return 64;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    rounds = atoi(argv[3]);
    snprintf(path, sizeof path, "%s.file", argv[2]);
    begin_notes(argv[2]);
    together();
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(cases[i].name, argv[1]))
            cases[i].run();
    end_notes();
    if (argc > 4)
        _exit(0);
    MPI_Finalize();
    return 0;
}
