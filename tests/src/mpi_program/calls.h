/* What the calls that calls.rs writes stand on: five processes, alone or as groups of three and two,
 * buffers whose bytes tell who wrote them, and arguments for every name of a parameter. Each
 * process writes what it passed and how many bytes changed into a file of its own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 65536
#define MOST 8
#define NOBODY 0xEE
#define INTS 64   /* ints between the blocks of v-functions */
#define TOTAL 12  /* ints that a reduction scatters */

static unsigned char send[ROOM], recv[ROOM];
static FILE *out;
static MPI_Comm comm;
static MPI_Info info = MPI_INFO_NULL;
static MPI_Op op = MPI_SUM;
static MPI_Datatype sendtype = MPI_INT, recvtype, datatype = MPI_INT;
static MPI_Datatype sendtypes[MOST], recvtypes[MOST];
static int world, rank, local, peers;       /* who I am, my group, the group at the other end */
static int in_place, inter, root, at_root, takes_part, sources, destinations;
static MPI_Request request;
static int from[MOST], to[MOST];            /* neighbours */

static unsigned char own(void) { return (unsigned char)(0x10 + world); }

/* A rank, where there may be none. */
static int some(int neighbor) { return neighbor < 0 ? 0 : neighbor; }

/* Elements of two ints that go from i to j. In place both directions are alike. */
static int pairs(int i, int j) { return in_place ? 1 + i + j : 1 + i + 2 * j; }

/* Receive buffers get a byte of nobody, in place the own one. */
static void fill(int own_bytes) {
    memset(send, own(), ROOM);
    memset(recv, own_bytes ? own() : NOBODY, ROOM);
}

static void finish(int persistent) {
    if (persistent) MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (persistent) MPI_Request_free(&request);
}

/* Groups {0, 1, 2} and {3, 4} on the two sides. */
static MPI_Comm between_groups(void) {
    MPI_Comm half, both;
    MPI_Comm_split(MPI_COMM_WORLD, world > 2, world, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, world > 2 ? 0 : 3, 1, &both);
    MPI_Comm_free(&half);
    return both;
}

/* Every process to the next one, even ones to the one behind that, too. */
static MPI_Comm along_graph(int n) {
    MPI_Comm graph;
    sources = destinations = 0;
    to[destinations++] = (world + 1) % n;
    if (world % 2 == 0) to[destinations++] = (world + 2) % n;
    from[sources++] = (world + n - 1) % n;
    if ((world + n - 2) % n % 2 == 0) from[sources++] = (world + n - 2) % n;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, sources, from, MPI_UNWEIGHTED, destinations, to,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    return graph;
}

/* A line of processes; the ends have a neighbour that is none. */
static MPI_Comm along_line(int n) {
    int periodic = 0;
    MPI_Comm line;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &periodic, 0, &line);
    MPI_Cart_shift(line, 0, 1, &from[0], &from[1]);
    memcpy(to, from, sizeof to);
    sources = destinations = 2;
    return line;
}

/* A kind of communicator. It is made once: that takes longer than a call. */
static struct kind {
    const char *name;
    MPI_Comm comm;
    int sources, destinations, from[MOST], to[MOST];
} kinds[] = {{.name = "intra"}, {.name = "inter"}, {.name = "graph"}, {.name = "line"}};

#define KINDS ((int)(sizeof kinds / sizeof *kinds))

static void make_kinds(void) {
    int n;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int i = 0; i < KINDS; i++) {
        struct kind *kind = &kinds[i];
        sources = destinations = 0;
        switch (i) {
        case 0: MPI_Comm_dup(MPI_COMM_WORLD, &kind->comm); break;
        case 1: kind->comm = between_groups(); break;
        case 2: kind->comm = along_graph(n); break;
        default: kind->comm = along_line(n);
        }
        kind->sources = sources;
        kind->destinations = destinations;
        memcpy(kind->from, from, sizeof from);
        memcpy(kind->to, to, sizeof to);
    }
}

static void begin(const char *name) {
    const struct kind *kind = kinds;
    while (strcmp(kind->name, name)) kind++;
    comm = kind->comm;
    inter = kind == &kinds[1];
    sources = kind->sources;
    destinations = kind->destinations;
    memcpy(from, kind->from, sizeof from);
    memcpy(to, kind->to, sizeof to);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &local);
    peers = local;
    if (inter) MPI_Comm_remote_size(comm, &peers);
}

/* The role of this process in the next call: with rank r as the root if it has one. */
static void be(int rooted, int r, int place) {
    root = inter && world <= 2 ? (world == r ? MPI_ROOT : MPI_PROC_NULL) : r;
    at_root = !rooted || (inter ? root == MPI_ROOT : rank == root);
    takes_part = !rooted || root != MPI_PROC_NULL;
    in_place = place && at_root;
}

static void list(const char *name, const int *values, int n) {
    fprintf(out, " %s=", name);
    for (int i = 0; i < n; i++) fprintf(out, "%s%d", i ? "," : "", values[i]);
}

/* Who took part in the call, and how many bytes it changed. */
static void facts(int own_at_first) {
    int changed = 0, was = own_at_first ? own() : NOBODY;
    for (int i = 0; i < ROOM; i++) changed += recv[i] != was;
    list("changed", &changed, 1);
    list("rank", &rank, 1);
    list("local", &local, 1);
    list("peers", &peers, 1);
    list("inter", &inter, 1);
    list("in_place", &in_place, 1);
    list("at_root", &at_root, 1);
    list("takes_part", &takes_part, 1);
    list("from", from, sources);
    list("to", to, destinations);
}

static void start(int *argc, char ***argv) {
    char path[4096];
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Type_contiguous(2, MPI_INT, &recvtype);
    MPI_Type_commit(&recvtype);
    for (int i = 0; i < MOST; i++) {
        sendtypes[i] = MPI_INT;
        recvtypes[i] = recvtype;
    }
    make_kinds();
    snprintf(path, sizeof path, "%s.%d", (*argv)[1], world);
    out = fopen(path, "w");
    if (!out) MPI_Abort(MPI_COMM_WORLD, 2);
}

static int finalize(void) {
    fclose(out);
    MPI_Type_free(&recvtype);
    for (int i = 0; i < KINDS; i++) MPI_Comm_free(&kinds[i].comm);
    return MPI_Finalize();
}
