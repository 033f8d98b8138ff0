/* Communicators whose groups are known. */
#define COMMS 12
static struct comm comms[COMMS];
static int made_comms, naming;

static void name_it(struct comm *k) {
    snprintf(k->name, sizeof k->name, "%s %d", "comm", naming++);
    MPI_Comm_set_name(k->c, k->name);
}

/* A communicator of all ranks of one colour, in order or turned around. */
static struct comm group_of(MPI_Comm c, const int *colors, int turned) {
    struct comm k = {.c = c};
    for (int i = 0; i < ranks; i++) {
        int rank = turned ? ranks - 1 - i : i;
        if (colors[rank] != colors[world]) continue;
        if (rank == world) k.rank = k.n;
        k.here[k.n++] = rank;
    }
    k.others = k.n;
    memcpy(k.there, k.here, sizeof k.here);
    int n, me;
    MPI_Comm_size(c, &n);
    MPI_Comm_rank(c, &me);
    MUST(n == k.n && me == k.rank);
    return k;
}

static struct comm make_inter(void) {
    int colors[MOST], leaders[2] = {-1, -1}, tag = 1 + (int)pick(100);
    for (int i = 0; i < ranks; i++) colors[i] = i == 0 ? 0 : i == ranks - 1 ? 1 : (int)pick(2);
    for (int i = ranks - 1; i >= 0; i--) leaders[colors[i]] = i;
    MPI_Comm half, both;
    MPI_Comm_split(MPI_COMM_WORLD, colors[world], world, &half);
    struct comm k = group_of(half, colors, 0);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, leaders[!colors[world]], tag, &both);
    MPI_Comm_free(&half);
    k.c = both;
    k.inter = 1;
    k.side = colors[world];
    k.others = 0;
    for (int i = 0; i < ranks; i++)
        if (colors[i] != colors[world]) k.there[k.others++] = i;
    return k;
}

static struct comm make_line(void) {
    int colors[MOST] = {0}, periodic = (int)pick(2);
    MPI_Comm c;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &c);
    struct comm k = group_of(c, colors, 0);
    k.topology = 1;
    k.sources = k.destinations = 2;
    int before = k.rank - 1, behind = k.rank + 1;
    if (periodic) {
        before = (before + ranks) % ranks;
        behind %= ranks;
    }
    k.from[0] = k.to[0] = before < 0 ? MPI_PROC_NULL : before;
    k.from[1] = k.to[1] = behind >= ranks ? MPI_PROC_NULL : behind;
    return k;
}

static struct comm make_graph(void) {
    int colors[MOST] = {0}, edges[MOST][MOST];
    struct comm k = {0};
    for (int i = 0; i < ranks; i++)
        for (int j = 0; j < ranks; j++) edges[i][j] = pick(3) == 0;
    int from[MOST], to[MOST], sources = 0, destinations = 0;
    for (int i = 0; i < ranks; i++) {
        if (edges[i][world]) from[sources++] = i;
        if (edges[world][i]) to[destinations++] = i;
    }
    MPI_Comm c;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, sources, from, MPI_UNWEIGHTED, destinations, to,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c);
    k = group_of(c, colors, 0);
    k.topology = 2;
    k.sources = sources;
    k.destinations = destinations;
    memcpy(k.from, from, sizeof from);
    memcpy(k.to, to, sizeof to);
    return k;
}

static void make_comms(void) {
    int colors[MOST] = {0};
    MPI_Comm c;
    made_comms = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    comms[made_comms++] = group_of(c, colors, 0);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world, &c);
    comms[made_comms++] = group_of(c, colors, 1);
    for (int i = 0; i < ranks; i++) colors[i] = (int)pick(2);
    MPI_Comm_split(MPI_COMM_WORLD, colors[world], world, &c);
    comms[made_comms++] = group_of(c, colors, 0);
    for (int i = 0; i < ranks; i++) colors[i] = i;
    MPI_Comm_dup(MPI_COMM_SELF, &c);
    comms[made_comms++] = group_of(c, colors, 0);
    if (ranks > 1) {
        comms[made_comms++] = make_inter();
        comms[made_comms++] = make_inter();
    }
    comms[made_comms++] = make_line();
    comms[made_comms++] = make_graph();
    for (int i = 0; i < made_comms; i++) name_it(&comms[i]);
}

static void say_comm(struct comm *k);

static void free_comms(void) {
    for (int i = 0; i < made_comms; i++) {
        say_comm(&comms[i]);
        if (comms[i].inter && pick(2))
            MPI_Comm_disconnect(&comms[i].c);
        else
            MPI_Comm_free(&comms[i].c);
    }
}

static struct comm *any_comm(void) { return &comms[pick((unsigned)made_comms)]; }

static struct comm *any_intra(void) {
    struct comm *k;
    do k = any_comm();
    while (k->inter);
    return k;
}
