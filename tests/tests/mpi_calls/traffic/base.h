/* Random traffic whose bytes are known. All ranks draw from one stream of numbers, so each
 * knows what all do; what does not change any bytes is drawn from a stream of its own. */
#include <sched.h>

#define MOST 16
#define NOBODY (-1)
#define ROOM 65536L /* bytes that one message may span in memory */
#define BINS 40

static int ranks, world;
static unsigned char *out, *in; /* MOST regions of ROOM bytes each */

/* Numbers: splitmix64. */
static unsigned long long shared_state, own_state;

static unsigned draw(unsigned long long *state, unsigned n) {
    unsigned long long x = *state += 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return (unsigned)((x ^ x >> 31) % n);
}

static unsigned pick(unsigned n) { return draw(&shared_state, n); }
static unsigned mine(unsigned n) { return draw(&own_state, n); }

/* What is expected. */
struct moved {
    unsigned long long number[2], bytes[2]; /* sent, received */
};

static struct moved expected[COUNTED], by_peer[MOST + 1];
static unsigned long long expected_sizes[COUNTED][2][BINS];

struct comm {
    MPI_Comm c;
    int inter, side, n, rank, others; /* own group; the group at the other end */
    int here[MOST], there[MOST];      /* their ranks in the world */
    int sources, destinations, from[MOST], to[MOST]; /* neighbours, in the communicator */
    int topology;
    char name[24];
    struct moved moved;
};

static void move(int way, int function, struct comm *k, long bytes, int peer) {
    int bin = 0;
    while (bin < BINS - 1 && bytes >> bin) bin++;
    expected[function].number[way]++;
    expected[function].bytes[way] += (unsigned long long)bytes;
    expected_sizes[function][way][bin]++;
    if (peer != NOBODY) {
        by_peer[peer].number[way]++;
        by_peer[peer].bytes[way] += (unsigned long long)bytes;
    }
    if (k) {
        k->moved.number[way]++;
        k->moved.bytes[way] += (unsigned long long)bytes;
    }
}

#define SENT(name, k, bytes, peer) move(0, F_##name, k, bytes, peer)
#define RECEIVED(name, k, bytes, peer) move(1, F_##name, k, bytes, peer)

static void must(int ok, const char *what, int line) {
    if (ok) return;
    fprintf(stderr, "rank %d, line %d: %s\n", world, line, what);
    PMPI_Abort(MPI_COMM_WORLD, 3);
}

#define MUST(condition) must(condition, #condition, __LINE__)

/* Datatypes. Sizes follow from how they are made. */
struct type {
    MPI_Datatype t;
    long size, extent, end; /* end: of the last byte of one element */
    int derived, reducible, pairs;
};

#define TYPES 24
static struct type types[TYPES];

static const struct type predefined(unsigned which) {
    const struct type all[] = {
        {MPI_CHAR, sizeof(char)},
        {MPI_SIGNED_CHAR, sizeof(signed char), .reducible = 1},
        {MPI_UNSIGNED_CHAR, sizeof(unsigned char), .reducible = 1},
        {MPI_BYTE, 1},
        {MPI_WCHAR, sizeof(wchar_t)},
        {MPI_SHORT, sizeof(short), .reducible = 1},
        {MPI_UNSIGNED_SHORT, sizeof(unsigned short), .reducible = 1},
        {MPI_INT, sizeof(int), .reducible = 1},
        {MPI_UNSIGNED, sizeof(unsigned), .reducible = 1},
        {MPI_LONG, sizeof(long), .reducible = 1},
        {MPI_UNSIGNED_LONG, sizeof(unsigned long), .reducible = 1},
        {MPI_LONG_LONG, sizeof(long long), .reducible = 1},
        {MPI_UNSIGNED_LONG_LONG, sizeof(long long), .reducible = 1},
        {MPI_FLOAT, sizeof(float), .reducible = 1},
        {MPI_DOUBLE, sizeof(double), .reducible = 1},
        {MPI_LONG_DOUBLE, sizeof(long double), .reducible = 1},
        {MPI_C_BOOL, sizeof(_Bool)},
        {MPI_INT8_T, 1, .reducible = 1},
        {MPI_INT16_T, 2, .reducible = 1},
        {MPI_INT32_T, 4, .reducible = 1},
        {MPI_INT64_T, 8, .reducible = 1},
        {MPI_UINT8_T, 1, .reducible = 1},
        {MPI_UINT16_T, 2, .reducible = 1},
        {MPI_UINT32_T, 4, .reducible = 1},
        {MPI_UINT64_T, 8, .reducible = 1},
        {MPI_C_COMPLEX, 2 * sizeof(float), .reducible = 1},
        {MPI_C_DOUBLE_COMPLEX, 2 * sizeof(double), .reducible = 1},
        {MPI_AINT, sizeof(MPI_Aint), .reducible = 1},
        {MPI_COUNT, sizeof(MPI_Count), .reducible = 1},
        {MPI_OFFSET, sizeof(MPI_Offset), .reducible = 1},
        {MPI_FLOAT_INT, sizeof(float) + sizeof(int), .pairs = 1},
        {MPI_DOUBLE_INT, sizeof(double) + sizeof(int), .pairs = 1},
        {MPI_LONG_INT, sizeof(long) + sizeof(int), .pairs = 1},
        {MPI_2INT, 2 * sizeof(int), .pairs = 1},
        {MPI_SHORT_INT, sizeof(short) + sizeof(int), .pairs = 1},
        {MPI_INTEGER, 4},
        {MPI_REAL, 4},
        {MPI_DOUBLE_PRECISION, 8},
        {MPI_COMPLEX, 8},
        {MPI_LOGICAL, 4},
        {MPI_CHARACTER, 1},
    };
    return all[which % (sizeof all / sizeof *all)];
}

/* Part of an array dimension that a process has. */
static long part(int distribution, long size, int processes, int rank) {
    if (distribution == MPI_DISTRIBUTE_NONE) return size;
    if (distribution == MPI_DISTRIBUTE_CYCLIC)
        return (size - rank + processes - 1) / processes;
    long block = (size + processes - 1) / processes, left = size - rank * block;
    return left < 0 ? 0 : left < block ? left : block;
}

static struct type derive(const struct type *of, const struct type *also) {
    struct type new = {.derived = 1, .pairs = of->pairs || also->pairs};
    long n = 1 + pick(4), length = 1 + pick(3), z = of->size;
    int lengths[4], places[4];
    MPI_Aint bytes[4];
    for (int i = 0; i < 4; i++) {
        lengths[i] = (int)pick(3);
        places[i] = 3 * i + (int)pick(2);
        bytes[i] = 3 * i * of->extent;
    }
    int kind = (int)pick(11);
    if (EMPTY_DARRAY_BREAKS && kind == 8 && z == 0) kind = 10;
    switch (kind) {
    case 0: MPI_Type_contiguous((int)n, of->t, &new.t); new.size = n * z; break;
    case 1:
        MPI_Type_vector((int)n, (int)length, (int)length + 1, of->t, &new.t);
        new.size = n * length * z;
        break;
    case 2:
        MPI_Type_create_hvector((int)n, (int)length, (length + 1) * of->extent, of->t, &new.t);
        new.size = n * length * z;
        break;
    case 3:
    case 4:
        if (pick(2))
            MPI_Type_indexed((int)n, lengths, places, of->t, &new.t);
        else
            MPI_Type_create_hindexed((int)n, lengths, bytes, of->t, &new.t);
        for (int i = 0; i < n; i++) new.size += lengths[i] * z;
        break;
    case 5:
        MPI_Type_create_indexed_block((int)n, 2, places, of->t, &new.t);
        new.size = n * 2 * z;
        break;
    case 6: {
        MPI_Datatype members[2] = {of->t, also->t};
        bytes[1] = (lengths[0] + 1) * of->extent;
        MPI_Type_create_struct(2, lengths, bytes, members, &new.t);
        new.size = lengths[0] * z + lengths[1] * also->size;
        break;
    }
    case 7: {
        int sizes[2] = {3 + (int)pick(3), 4}, parts[2] = {1 + (int)pick(3), 2}, at[2] = {0, 1};
        int order = pick(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
        MPI_Type_create_subarray(2, sizes, parts, at, order, of->t, &new.t);
        new.size = parts[0] * parts[1] * z;
        break;
    }
    case 8: {
        int whole[2] = {2 + (int)pick(5), 3}, processes[2] = {2, 1}, rank = (int)pick(2);
        int ways[2] = {pick(2) ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
        int defaults[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
        MPI_Type_create_darray(2, rank, 2, whole, ways, defaults, processes, MPI_ORDER_C, of->t,
                               &new.t);
        new.size = part(ways[0], whole[0], 2, rank) * 3 * z;
        break;
    }
    case 9:
        MPI_Type_create_resized(of->t, 0, of->end + 8 * (long)pick(4), &new.t);
        new.size = z;
        break;
    default: MPI_Type_dup(of->t, &new.t); new.size = z; break;
    }
    MPI_Type_commit(&new.t);
    return new;
}

static void measure(struct type *type) {
    MPI_Aint lower, extent, true_lower, true_extent;
    MPI_Type_get_extent(type->t, &lower, &extent);
    MPI_Type_get_true_extent(type->t, &true_lower, &true_extent);
    type->extent = extent;
    type->end = true_lower + true_extent;
    MUST(type->size == 0 || true_lower >= 0);
}

static void make_types(void) {
    for (int i = 0; i < TYPES; i++) {
        if (i < TYPES / 3) {
            types[i] = predefined(pick(1000));
        } else {
            types[i] = derive(&types[pick((unsigned)i)], &types[pick((unsigned)i)]);
        }
        measure(&types[i]);
        if (types[i].derived && (types[i].end > ROOM / 16 || types[i].extent > ROOM / 16)) {
            MPI_Type_free(&types[i].t);
            types[i] = (struct type){MPI_SHORT, sizeof(short), .reducible = 1};
            measure(&types[i]);
        }
    }
}

static void free_types(void) {
    for (int i = 0; i < TYPES; i++)
        if (types[i].derived) MPI_Type_free(&types[i].t);
}

static const struct type *any_type(void) { return &types[pick(TYPES)]; }

static const struct type *operand(void) {
    static struct type kept;
    do kept = predefined(pick(1000));
    while (!kept.reducible);
    measure(&kept);
    return &kept;
}

/* Elements of a type that fit into a part of a region: none, few, or many. */
static int elements(const struct type *type, int parts) {
    long most = 1;
    long one = type->extent > type->end ? type->extent : type->end;
    if (one > 0) most = (ROOM / parts - type->end) / one;
    if (most > 20000) most = 20000;
    switch (pick(5)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return (int)pick((unsigned)most + 1);
    default: return (int)pick(most < 40 ? (unsigned)most + 1 : 40);
    }
}
