/* Point-to-point communication. */

static MPI_Status *ignore_or(MPI_Status *status) {
    return mine(2) ? MPI_STATUS_IGNORE : status;
}

static int active(const MPI_Request *requests, int n) {
    int active = 0;
    for (int i = 0; i < n; i++) active += requests[i] != MPI_REQUEST_NULL;
    return active;
}

/* May requests be asked without being completed? */
static int asking = 1;

/* Completes requests in one of the ways there are; none of them was completed before. */
static void complete(MPI_Request *requests, int n) {
    MPI_Status statuses[2 * MOST], status;
    int left = active(requests, n), flag = 0, index, some, indices[2 * MOST];
    MPI_Status *all = mine(2) ? MPI_STATUSES_IGNORE : statuses;
    switch (mine(9)) {
    case 0: MPI_Waitall(n, requests, all); break;
    case 1:
        while (!flag) {
            MPI_Testall(n, requests, &flag, all);
            sched_yield();
        }
        break;
    case 2:
        while (left-- > 0) MPI_Waitany(n, requests, &index, ignore_or(&status));
        break;
    case 3:
        while (left > 0) {
            MPI_Testany(n, requests, &index, &flag, ignore_or(&status));
            left -= flag;
            sched_yield();
        }
        break;
    case 4:
        while (left > 0) {
            MPI_Waitsome(n, requests, &some, indices, all);
            left -= some;
        }
        break;
    case 5:
        while (left > 0) {
            MPI_Testsome(n, requests, &some, indices, all);
            left -= some;
            sched_yield();
        }
        break;
    case 6:
        for (int i = n - 1; i >= 0; i--)
            for (flag = 0; !flag; sched_yield()) MPI_Test(&requests[i], &flag, ignore_or(&status));
        break;
    case 7:
        for (int i = 0; i < n; i++) {
            for (flag = !asking; !flag; sched_yield())
                MPI_Request_get_status(requests[i], &flag, ignore_or(&status));
            MPI_Wait(&requests[i], ignore_or(&status));
        }
        break;
    default:
        for (int i = 0; i < n; i++) MPI_Wait(&requests[i], ignore_or(&status));
    }
}

/* A message from one to another. */
struct message {
    struct comm *k;
    const struct type *type;
    int count, room, from, to, tag; /* ranks in the communicator; a world rank with peer */
    int sender, receiver;           /* am I? */
    int sender_world, receiver_world;
    long bytes;
    int times;
};

enum { SEND, BSEND, SSEND, RSEND, ISEND, IBSEND, ISSEND, IRSEND, SEND_INIT, BSEND_INIT, SSEND_INIT,
       RSEND_INIT, SENDS };
enum { RECV, IRECV, RECV_INIT, MRECV, IMRECV, PROBED, RECEIVES };

static struct message draw_message(void) {
    static int tag = 10;
    struct message m = {.k = any_comm(), .type = any_type(), .times = 1};
    struct comm *k = m.k;
    unsigned s = pick(1000), r = pick(1000);
    int side = (int)pick(2);
    m.count = elements(m.type, 4);
    m.room = m.count + (int)pick(5);
    m.tag = tag = 10 + (tag + 1) % 30000;
    int near = !k->inter || k->side == side; /* the sender is of my group */
    int senders = near ? k->n : k->others, receivers = near ? k->others : k->n;
    m.from = (int)s % senders;
    m.to = (int)r % receivers;
    m.sender = near && k->rank == m.from;
    m.receiver = (k->inter ? !near : 1) && k->rank == m.to;
    m.sender_world = near ? k->here[m.from] : k->there[m.from];
    m.receiver_world = near ? k->there[m.to] : k->here[m.to];
    m.bytes = m.count * m.type->size;
    return m;
}

static void receive_begin(const struct message *m, int how, MPI_Request *request) {
    const struct comm *k = m->k;
    int source = mine(2) ? MPI_ANY_SOURCE : m->from, tag = m->tag;
    if (how == IRECV)
        MPI_Irecv(in, m->room, m->type->t, source, tag, k->c, request);
    else
        MPI_Recv_init(in, m->room, m->type->t, source, tag, k->c, request);
}

static void receive_now(const struct message *m, int how) {
    const struct comm *k = m->k;
    int source = mine(2) ? MPI_ANY_SOURCE : m->from, flag = 0, count;
    int tag = source == MPI_ANY_SOURCE || mine(2) ? m->tag : MPI_ANY_TAG;
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    switch (how) {
    case RECV:
        if (mine(2)) {
            MPI_Recv(in, m->room, m->type->t, source, tag, k->c, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, m->room, m->type->t, source, tag, k->c, &status);
            MPI_Get_count(&status, m->type->t, &count);
            MUST(count == m->count || m->type->size == 0);
            MUST(status.MPI_SOURCE == m->from && status.MPI_TAG == m->tag);
        }
        RECEIVED(MPI_Recv, m->k, m->bytes, m->sender_world);
        break;
    case MRECV:
        MPI_Mprobe(source, tag, k->c, &message, ignore_or(&status));
        MPI_Mrecv(in, m->room, m->type->t, &message, ignore_or(&status));
        RECEIVED(MPI_Mrecv, m->k, m->bytes, m->sender_world);
        break;
    case IMRECV:
        for (; !flag; sched_yield())
            MPI_Improbe(source, tag, k->c, &flag, &message, ignore_or(&status));
        MPI_Imrecv(in, m->room, m->type->t, &message, &request);
        complete(&request, 1);
        RECEIVED(MPI_Imrecv, m->k, m->bytes, m->sender_world);
        break;
    default:
        if (mine(2))
            MPI_Probe(source, tag, k->c, ignore_or(&status));
        else
            for (; !flag; sched_yield())
                MPI_Iprobe(source, tag, k->c, &flag, ignore_or(&status));
        MPI_Recv(in, m->room, m->type->t, source, tag, k->c, ignore_or(&status));
        RECEIVED(MPI_Recv, m->k, m->bytes, m->sender_world);
    }
}

#define NOW(name)                                                                  \
    MPI_##name(out, m->count, m->type->t, m->to, m->tag, m->k->c);                 \
    SENT(MPI_##name, m->k, m->bytes, m->receiver_world)
#define LATER(name)                                                                \
    MPI_##name(out, m->count, m->type->t, m->to, m->tag, m->k->c, &request);       \
    SENT(MPI_##name, m->k, m->bytes, m->receiver_world);                           \
    if (mine(6) || must_wait) complete(&request, 1);                               \
    else MPI_Request_free(&request)
#define AGAIN(name)                                                                \
    MPI_##name(out, m->count, m->type->t, m->to, m->tag, m->k->c, &request);       \
    for (int i = 0; i < m->times; i++) {                                           \
        if (mine(2)) MPI_Start(&request);                                          \
        else MPI_Startall(1, &request);                                            \
        SENT(MPI_##name, m->k, m->bytes, m->receiver_world);                       \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                                     \
    }                                                                              \
    MPI_Request_free(&request)

static void send(const struct message *m, int how) {
    MPI_Request request;
    int must_wait = m->bytes > 64; /* whoever frees the request may not know when it is done */
    switch (how) {
    case SEND: NOW(Send); break;
    case BSEND: NOW(Bsend); break;
    case SSEND: NOW(Ssend); break;
    case RSEND: NOW(Rsend); break;
    case ISEND: LATER(Isend); break;
    case IBSEND: LATER(Ibsend); break;
    case ISSEND: LATER(Issend); break;
    case IRSEND: LATER(Irsend); break;
    case SEND_INIT: AGAIN(Send_init); break;
    case BSEND_INIT: AGAIN(Bsend_init); break;
    case SSEND_INIT: AGAIN(Ssend_init); break;
    default: AGAIN(Rsend_init);
    }
}

/* One message, in one of the ways to send and one of those to receive. */
static void pass_message(void) {
    struct message message = draw_message(), *m = &message;
    int how = (int)pick(SENDS), receive = (int)pick(RECEIVES), times = 1 + (int)pick(3);
    int ready = how == RSEND || how == IRSEND || how == RSEND_INIT, go = 7;
    /* To itself, or to who has to be ready: the receive comes first. */
    int itself = m->sender && m->receiver;
    int same = m->sender_world == m->receiver_world;
    if ((ready || same) && receive != IRECV && receive != RECV_INIT) receive = IRECV;
    if (how >= SEND_INIT && receive != IRECV && !same) m->times = times;
    if (receive == IRECV || ready) m->times = 1;
    MPI_Request request = MPI_REQUEST_NULL;
    int posted = receive == IRECV || receive == RECV_INIT;
    if (m->receiver && posted) {
        receive_begin(m, receive, &request);
        if (receive == RECV_INIT) MPI_Start(&request);
        if (ready && !itself) {
            MPI_Send(&go, 1, MPI_INT, m->from, 5, m->k->c);
            SENT(MPI_Send, m->k, (long)sizeof go, m->sender_world);
        }
    }
    if (m->sender) {
        if (ready && !itself) {
            MPI_Recv(&go, 1, MPI_INT, m->to, 5, m->k->c, MPI_STATUS_IGNORE);
            RECEIVED(MPI_Recv, m->k, (long)sizeof go, m->receiver_world);
        }
        send(m, how);
    }
    if (!m->receiver) return;
    for (int i = 0; i < m->times; i++) {
        if (!posted) {
            receive_now(m, receive);
        } else if (receive == IRECV) {
            complete(&request, 1);
            RECEIVED(MPI_Irecv, m->k, m->bytes, m->sender_world);
        } else {
            if (i > 0) MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            RECEIVED(MPI_Recv_init, m->k, m->bytes, m->sender_world);
        }
    }
    if (receive == RECV_INIT) MPI_Request_free(&request);
}

/* Everybody to a neighbour in a ring, or in a line with ends. */
static void shift(void) {
    struct comm *k = any_intra();
    const struct type *type = any_type();
    int count = elements(type, 2), line = (int)pick(2), way = (int)pick(3), extra = (int)pick(3);
    int to = k->rank + 1, from = k->rank - 1, replace = pick(2);
    long bytes = count * type->size;
    MPI_Status status;
    if (to == k->n) to = line ? MPI_PROC_NULL : 0;
    if (from < 0) from = line ? MPI_PROC_NULL : k->n - 1;
    int to_world = to < 0 ? NOBODY : k->here[to], from_world = from < 0 ? NOBODY : k->here[from];
    int any = from >= 0 && mine(2);
#define BOTH(name)                                                                 \
    do {                                                                           \
        if (to_world != NOBODY) SENT(name, k, bytes, to_world);                    \
        if (from_world != NOBODY) RECEIVED(name, k, bytes, from_world);            \
    } while (0)
#if MPI_VERSION >= 4
    if (way == 0 && k->n > 1 && !ISENDRECV_BREAKS) {
        MPI_Request request;
        if (replace) {
            MPI_Isendrecv_replace(in, count, type->t, to, 3, any ? MPI_ANY_SOURCE : from, 3, k->c,
                                  &request);
            BOTH(MPI_Isendrecv_replace);
        } else {
            MPI_Isendrecv(out, count, type->t, to, 3, in, count + extra, type->t,
                          any ? MPI_ANY_SOURCE : from, 3, k->c, &request);
            BOTH(MPI_Isendrecv);
        }
        complete(&request, 1);
        return;
    }
#endif
    if (replace && !(type->pairs && REPLACE_BREAKS)) {
        MPI_Sendrecv_replace(in, count, type->t, to, 3, from, 3, k->c, ignore_or(&status));
        BOTH(MPI_Sendrecv_replace);
    } else {
        MPI_Sendrecv(out, count, type->t, to, 3, in, count + extra, type->t, from,
                     mine(2) ? 3 : MPI_ANY_TAG, k->c, ignore_or(&status));
        BOTH(MPI_Sendrecv);
    }
}

/* Many messages at once, to and from several, and nobody. */
static void exchange(void) {
    struct comm *k = any_comm();
    const struct type *type = any_type();
    int rounds = 1 + (int)pick(4), n = 0, count[8], some = (int)pick(3), keep = (int)pick(2);
    MPI_Request requests[2 * MOST];
    for (int i = 0; i < rounds; i++) count[i] = elements(type, 8);
    /* Between groups everybody receives from everybody; in a group from the one i before. */
    for (int i = 0; i < rounds; i++) {
        if (k->inter) continue;
        int from = (k->rank - i + k->n * 8) % k->n, none = i == some;
        MPI_Irecv(in + i * ROOM, count[i] + 2, type->t, none ? MPI_PROC_NULL : from, 100 + i, k->c,
                  &requests[n++]);
        if (!none) RECEIVED(MPI_Irecv, k, count[i] * type->size, k->here[from]);
    }
    for (int i = 0; i < rounds; i++) {
        if (k->inter) continue;
        int to = (k->rank + i) % k->n, none = i == some;
        MPI_Isend(out, count[i], type->t, none ? MPI_PROC_NULL : to, 100 + i, k->c,
                  &requests[n++]);
        if (!none) SENT(MPI_Isend, k, count[i] * type->size, k->here[to]);
    }
    for (int i = 0; i < k->others && k->inter; i++) {
        MPI_Irecv(in + i * ROOM, count[0] + 2, type->t, i, 99, k->c, &requests[n++]);
        RECEIVED(MPI_Irecv, k, count[0] * type->size, k->there[i]);
        MPI_Isend(out, count[0], type->t, i, 99, k->c, &requests[n++]);
        SENT(MPI_Isend, k, count[0] * type->size, k->there[i]);
    }
    if (keep) requests[n++] = MPI_REQUEST_NULL;
    complete(requests, n);
}

/* A receive that nobody answers. */
static void cancel(void) {
    struct comm *k = any_comm();
    const struct type *type = any_type();
    MPI_Request request;
    MPI_Status status;
    int flag, persistent = (int)pick(2);
    if (persistent) {
        MPI_Recv_init(in, 10, type->t, 0, 32000, k->c, &request);
        MPI_Start(&request);
    } else {
        MPI_Irecv(in, 10, type->t, MPI_ANY_SOURCE, 32000, k->c, &request);
    }
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    MUST(flag);
    if (persistent) MPI_Request_free(&request);
}

#if MPI_VERSION >= 4
static void partitions(void) {
    struct message message = draw_message(), *m = &message;
    MPI_Request requests[2];
    int n = 0, parts = 1 + (int)pick(4), list[4] = {0, 1, 2, 3}, way = (int)mine(3);
    int count = elements(m->type, 8), times = 1 + (int)pick(3);
    long bytes = (long)parts * count * m->type->size;
    if (m->receiver)
        MPI_Precv_init(in, parts, count, m->type->t, m->from, m->tag, m->k->c, MPI_INFO_NULL,
                       &requests[n++]);
    if (m->sender)
        MPI_Psend_init(out, parts, count, m->type->t, m->to, m->tag, m->k->c, MPI_INFO_NULL,
                       &requests[n++]);
    for (int t = 0; t < times && n; t++) {
        MPI_Startall(n, requests);
        MPI_Request *sending = &requests[n - 1];
        if (m->sender && way == 0) MPI_Pready_range(0, parts - 1, *sending);
        if (m->sender && way == 1) MPI_Pready_list(parts, list, *sending);
        for (int i = 0; i < parts && m->sender && way == 2; i++) MPI_Pready(i, *sending);
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
        if (m->sender) SENT(MPI_Psend_init, m->k, bytes, m->receiver_world);
        if (m->receiver) RECEIVED(MPI_Precv_init, m->k, bytes, m->sender_world);
    }
    for (int i = 0; i < n; i++) MPI_Request_free(&requests[i]);
}
#endif
