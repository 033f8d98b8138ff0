/* Collectives, blocking, non-blocking and persistent. */

/* Calls one of a family, `times` times if it is persistent, and counts what it moved. */
#if MPI_VERSION >= 4
#define PERSISTENT(init, ...)                                                      \
    MPI_##init(__VA_ARGS__, MPI_INFO_NULL, &request);                              \
    for (int t = 0; t < (RESTART_BREAKS ? 1 : times); t++) {                                              \
        MPI_Start(&request);                                                       \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                                     \
        ALL_MOVED(MPI_##init);                                                     \
    }                                                                              \
    MPI_Request_free(&request)
#define WAYS 3
#else
#define PERSISTENT(init, ...)
#define WAYS 2
#endif

#define FAMILY(now, later, init, ...)                                              \
    do {                                                                           \
        if (way == 0) {                                                            \
            MPI_##now(__VA_ARGS__);                                                \
            ALL_MOVED(MPI_##now);                                                  \
        } else if (way == 1) {                                                     \
            MPI_##later(__VA_ARGS__, &request);                                    \
            complete(&request, 1);                                                 \
            ALL_MOVED(MPI_##later);                                                \
        } else {                                                                   \
            PERSISTENT(init, __VA_ARGS__);                                         \
        }                                                                          \
    } while (0)

/* What a call moves: not taking part is not the same as moving 0 bytes. */
#define NOTHING (-1L)
static long goes, comes;
static int goes_to, comes_from;

#define ALL_MOVED(name)                                                            \
    do {                                                                           \
        if (goes != NOTHING) SENT(name, k, goes, goes_to);                         \
        if (comes != NOTHING) RECEIVED(name, k, comes, comes_from);                \
    } while (0)

/* A block of many, in elements: as many from i to j as from j to i. */
static int base;
static int block(int i, int j) { return (base + i + j + i * j) % 4; }

/* Whether any of them is empty: all processes have to see it alike. */
static int some_block_is_empty(int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (block(i, j) == 0) return 1;
    return 0;
}

/* Who is the root, and what it is called here. */
struct role {
    int root, at_root, group, world;
};

static struct role draw_role(const struct comm *k) {
    struct role role;
    unsigned r = pick(1000);
    int side = (int)pick(2);
    if (!k->inter) {
        role.root = (int)r % k->n;
        role.at_root = role.root == k->rank;
        role.group = 1;
        role.world = k->here[role.root];
    } else if (k->side == side) {
        role.at_root = k->rank == (int)r % k->n;
        role.root = role.at_root ? MPI_ROOT : MPI_PROC_NULL;
        role.group = 0;
        role.world = k->here[(int)r % k->n];
    } else {
        role.root = (int)r % k->others;
        role.at_root = 0;
        role.group = 1;
        role.world = k->there[role.root];
    }
    return role;
}

/* Which peer a flow with a root has. */
static int peer(int rank_of_world) { return ROOT_IS_PEER ? rank_of_world : NOBODY; }

static void rooted(void) {
    struct comm *k = any_comm();
    const struct type *type = any_type(), *number = operand();
    struct role role = draw_role(k);
    int what = (int)pick(6), way = (int)pick(WAYS), times = 1 + (int)pick(3), count, in_place;
    int counts[MOST], places[MOST], all = 0, own;
    MPI_Request request;
    in_place = pick(2) && !k->inter && role.at_root;
    count = elements(type, 1) % 40;
    base = (int)pick(5);
    /* Processes at the other end of the root's communicator. */
    int blocks = role.at_root ? k->others : 0;
    for (int i = 0; i < MOST; i++) {
        counts[i] = block(i, 1);
        places[i] = 4 * i;
        if (i < blocks && !(in_place && i == k->rank)) all += counts[i];
    }
    own = block(k->rank, 1);
    long z = type->size;
    int moving = role.at_root ? blocks - in_place : 0;
    goes = comes = NOTHING;
    goes_to = comes_from = NOBODY;
    if (role.group && !role.at_root) goes_to = comes_from = peer(role.world);
    if (role.group && role.at_root) goes_to = comes_from = peer(world);
    void *sends = in_place ? MPI_IN_PLACE : out, *gets = in_place ? MPI_IN_PLACE : in;
    switch (what) {
    case 0:
        if (k->inter && way > 0 && IBCAST_BREAKS) way = 0;
        if (role.at_root) goes = count * z, goes_to = NOBODY;
        if (role.group && !role.at_root) comes = count * z;
        FAMILY(Bcast, Ibcast, Bcast_init, in, count, type->t, role.root, k->c);
        break;
    case 1:
        if (role.group && !in_place) goes = count * z;
        if (role.at_root) comes = moving * count * z, comes_from = NOBODY;
        FAMILY(Gather, Igather, Gather_init, sends, in_place ? -1 : count, type->t, in, count,
               type->t, role.root, k->c);
        break;
    case 2:
        if (role.group && !in_place) goes = own * z;
        if (role.at_root) comes = all * z, comes_from = NOBODY;
        FAMILY(Gatherv, Igatherv, Gatherv_init, sends, in_place ? -1 : own, type->t, in,
               role.at_root ? counts : NULL, role.at_root ? places : NULL, type->t, role.root,
               k->c);
        break;
    case 3:
        if (role.at_root) goes = moving * count * z, goes_to = NOBODY;
        if (role.group && !in_place) comes = count * z;
        FAMILY(Scatter, Iscatter, Scatter_init, out, count, type->t, gets, in_place ? -1 : count,
               type->t, role.root, k->c);
        break;
    case 4:
        if (role.at_root) goes = all * z, goes_to = NOBODY;
        if (role.group && !in_place) comes = own * z;
        FAMILY(Scatterv, Iscatterv, Scatterv_init, out, role.at_root ? counts : NULL,
               role.at_root ? places : NULL, type->t, gets, in_place ? -1 : own, type->t,
               role.root, k->c);
        break;
    default:
        count = (int)pick(1000);
        if (role.group) goes = count * number->size;
        if (role.at_root) comes = count * number->size, comes_from = NOBODY;
        FAMILY(Reduce, Ireduce, Reduce_init, sends, role.at_root ? in : NULL, count, number->t,
               MPI_SUM, role.root, k->c);
    }
}

static void everybody(void) {
    struct comm *k = any_comm();
    const struct type *type = any_type(), *number = operand();
    int what = (int)pick(12), way = (int)pick(WAYS), times = 1 + (int)pick(3);
    int in_place = (int)pick(2) && !k->inter, count = elements(type, 1) % 40;
    int counts[MOST], mine_to[MOST], places[MOST], bytes[MOST], all = 0, exchanged = 0;
    MPI_Datatype each[MOST];
    MPI_Request request;
    base = (int)pick(5);
    for (int i = 0; i < MOST; i++) {
        counts[i] = block(i, 1);
        mine_to[i] = block(k->rank, i);
        places[i] = 4 * i;
        bytes[i] = (int)ROOM / MOST * i;
        each[i] = type->t;
        if (i >= k->others || (in_place && i == k->rank)) continue;
        all += counts[i];
        exchanged += mine_to[i];
    }
    for (int i = 0; i < MOST; i++) bytes[i] = (int)(i * 4 * (type->end + type->extent));
    long z = type->size, others = k->others - in_place;
    void *sends = in_place ? MPI_IN_PLACE : out;
    int scattered[MOST], share = (int)pick(50);
    long sum = 0;
    /* Of two groups both results have to have one length. */
    for (int i = 0; i < MOST; i++) scattered[i] = k->inter ? share * k->others : share + i;
    for (int i = 0; i < k->n; i++) sum += scattered[i];
    int nothing = in_place ? -1 : count;
    MPI_Datatype no_type = in_place ? MPI_DATATYPE_NULL : type->t;
    goes = comes = NOTHING;
    goes_to = comes_from = NOBODY;
    if (k->inter && what >= 10) what = 0;
    switch (what) {
    case 0:
        if (way == 0) MPI_Barrier(k->c);
        if (way == 1) {
            MPI_Ibarrier(k->c, &request);
            complete(&request, 1);
        }
#if MPI_VERSION >= 4
        if (way == 2) {
            MPI_Barrier_init(k->c, MPI_INFO_NULL, &request);
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Request_free(&request);
        }
#endif
        break;
    case 1:
        goes = count * z;
        comes = others * count * z;
        FAMILY(Allgather, Iallgather, Allgather_init, sends, nothing, no_type, in, count, type->t,
               k->c);
        break;
    case 2: {
        /* The lengths of the other group's blocks. */
        int own = counts[k->rank];
        goes = own * z;
        comes = all * z;
        FAMILY(Allgatherv, Iallgatherv, Allgatherv_init, sends, in_place ? -1 : own, no_type, in,
               counts, places, type->t, k->c);
        break;
    }
    case 3:
        goes = comes = others * count * z;
        FAMILY(Alltoall, Ialltoall, Alltoall_init, sends, nothing, no_type, in, count, type->t,
               k->c);
        break;
    case 4:
        goes = comes = exchanged * z;
        FAMILY(Alltoallv, Ialltoallv, Alltoallv_init, sends, in_place ? NULL : mine_to,
               in_place ? NULL : places, no_type, in, mine_to, places, type->t, k->c);
        break;
    case 5:
        if (k->inter && COPIES_BREAK) return;
        if (way == 1 && LISTS_BREAK) way = 0;
        if (way == 1 && in_place && IN_PLACE_BREAKS && some_block_is_empty(k->n)) way = 0;
        goes = comes = exchanged * z;
        FAMILY(Alltoallw, Ialltoallw, Alltoallw_init, sends, in_place ? NULL : mine_to,
               in_place ? NULL : bytes, in_place ? NULL : each, in, mine_to, bytes, each, k->c);
        break;
    case 6:
    case 7:
        count = (int)pick(3000);
        goes = comes = count * number->size;
        FAMILY(Allreduce, Iallreduce, Allreduce_init, sends, in, count, number->t, MPI_SUM, k->c);
        break;
    case 8:
        goes = k->n * scattered[0] * number->size;
        comes = scattered[0] * number->size;
        FAMILY(Reduce_scatter_block, Ireduce_scatter_block, Reduce_scatter_block_init, sends, in,
               scattered[0], number->t, MPI_SUM, k->c);
        break;
    case 9:
        goes = sum * number->size;
        comes = scattered[k->rank] * number->size;
        FAMILY(Reduce_scatter, Ireduce_scatter, Reduce_scatter_init, sends, in, scattered,
               number->t, MPI_SUM, k->c);
        break;
    case 10:
        goes = comes = count * number->size;
        FAMILY(Scan, Iscan, Scan_init, sends, in, count, number->t, MPI_SUM, k->c);
        break;
    default:
        goes = count * number->size;
        if (k->rank > 0) comes = goes;
        FAMILY(Exscan, Iexscan, Exscan_init, sends, in, count, number->t, MPI_SUM, k->c);
    }
}

static int there_are(const int *neighbors, int n) {
    int there = 0;
    for (int i = 0; i < n; i++) there += neighbors[i] >= 0;
    return there;
}

static void neighbors(void) {
    struct comm *k;
    do k = any_comm();
    while (!k->topology);
    const struct type *type = any_type();
    int what = (int)pick(5), way = (int)pick(WAYS), times = 1 + (int)pick(3);
    int count = elements(type, 1) % 40, sends[MOST], gets[MOST], places[MOST], to = 0, from = 0;
    MPI_Aint bytes[MOST];
    MPI_Datatype each[MOST];
    MPI_Request request;
    long z = type->size;
    base = (int)pick(5);
    for (int i = 0; i < MOST; i++) {
        int there = i < k->destinations ? k->to[i] : -1, here = i < k->sources ? k->from[i] : -1;
        sends[i] = there < 0 ? 3 : block(k->rank, there);
        gets[i] = here < 0 ? 3 : what == 1 ? block(here, 1) : block(here, k->rank);
        places[i] = 4 * i;
        bytes[i] = 4 * i * (type->end + type->extent);
        each[i] = type->t;
        if (there >= 0) to += sends[i];
        if (here >= 0) from += gets[i];
    }
    goes_to = comes_from = NOBODY;
    int nobody = there_are(k->to, k->destinations) == 0;
    switch (what) {
    case 0:
        goes = nobody ? NOTHING : count * z;
        comes = there_are(k->from, k->sources) * count * z;
        FAMILY(Neighbor_allgather, Ineighbor_allgather, Neighbor_allgather_init, out, count,
               type->t, in, count, type->t, k->c);
        break;
    case 1:
        goes = nobody ? NOTHING : block(k->rank, 1) * z;
        comes = from * z;
        FAMILY(Neighbor_allgatherv, Ineighbor_allgatherv, Neighbor_allgatherv_init, out,
               block(k->rank, 1), type->t, in, gets, places, type->t, k->c);
        break;
    case 2:
        goes = nobody ? NOTHING : there_are(k->to, k->destinations) * count * z;
        comes = there_are(k->from, k->sources) * count * z;
        FAMILY(Neighbor_alltoall, Ineighbor_alltoall, Neighbor_alltoall_init, out, count, type->t,
               in, count, type->t, k->c);
        break;
    case 3:
        goes = nobody ? NOTHING : to * z;
        comes = from * z;
        FAMILY(Neighbor_alltoallv, Ineighbor_alltoallv, Neighbor_alltoallv_init, out, sends, places,
               type->t, in, gets, places, type->t, k->c);
        break;
    default:
        if (COPIES_BREAK || (GRAPHS_BREAK && k->topology == 2)) return;
        if (way == 1 && LISTS_BREAK) way = 0;
        goes = nobody ? NOTHING : to * z;
        comes = from * z;
        FAMILY(Neighbor_alltoallw, Ineighbor_alltoallw, Neighbor_alltoallw_init, out, sends, bytes,
               each, in, gets, bytes, each, k->c);
    }
}
