// mpi_calls PAIRS [paused] [threads]: what stands in front of the MPI costs per call, in ns.
//
// Blocks of calls as the program sees them alternate with blocks of the same calls of the
// library of the MPI, both some 20 us long, in one process: whatever else the machine does
// meets both. A line per routine: name, median of the paired differences per call, its lower
// and upper quartile, median of the bare call. Two ranks do them together where both must call.
//
// In Fortran there is no bare call, because the binding calls C: the reference is the same
// routine in C, and what the binding costs is the same line without anything in front.

#include "mpi_api.h"

#include <time.h>

#define CALLS 300
#define LARGE (1 << 20)

void mpif_block(int which, int calls);
void f08_block(int which, int calls);

static struct api seen, bare;
static int pairs, world_rank;
static MPI_Request pending, persistent;
static MPI_Win window;
static MPI_File file;
static MPI_Datatype column;
static char *buffer, *other;

// Calls `calls` times what is timed through `at`. What else is needed is called bare.
typedef void block(const struct api *at, int calls);

static void comm_rank(const struct api *at, int calls)
{
    int rank;
    while (calls-- > 0)
        at->Comm_rank(MPI_COMM_WORLD, &rank);
}

static void type_size(const struct api *at, int calls)
{
    int size;
    while (calls-- > 0)
        at->Type_size(MPI_DOUBLE, &size);
}

static void iprobe(const struct api *at, int calls)
{
    int flag;
    while (calls-- > 0)
        at->Iprobe(0, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void test(const struct api *at, int calls)
{
    int flag;
    while (calls-- > 0)
        at->Test(&pending, &flag, MPI_STATUS_IGNORE);
}

static void send_of(const struct api *at, int calls, int count, MPI_Datatype type)
{
    MPI_Request request;
    while (calls-- > 0) {
        bare.Irecv(other, count, type, 0, 1, MPI_COMM_SELF, &request);
        at->Send(buffer, count, type, 0, 1, MPI_COMM_SELF);
        bare.Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void send_8(const struct api *at, int calls)
{
    send_of(at, calls, 1, MPI_DOUBLE);
}

static void send_column(const struct api *at, int calls)
{
    send_of(at, calls, 1, column);
}

static void recv_8(const struct api *at, int calls)
{
    MPI_Request request;
    while (calls-- > 0) {
        bare.Isend(buffer, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &request);
        at->Recv(other, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        bare.Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void recv_any(const struct api *at, int calls)
{
    MPI_Request request;
    MPI_Status status;
    while (calls-- > 0) {
        bare.Isend(buffer, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &request);
        at->Recv(other, 8, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &status);
        bare.Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void sendrecv_8(const struct api *at, int calls)
{
    while (calls-- > 0)
        at->Sendrecv(buffer, 1, MPI_DOUBLE, 0, 1, other, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
}

static void sendrecv_large(const struct api *at, int calls)
{
    while (calls-- > 0)
        at->Sendrecv(buffer, LARGE, MPI_BYTE, 0, 1, other, LARGE, MPI_BYTE, 0, 1, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
}

// Three calls each.
static void waitall(const struct api *at, int calls)
{
    for (calls /= 3; calls > 0; calls--) {
        MPI_Request requests[2];
        at->Irecv(other, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &requests[0]);
        at->Isend(buffer, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &requests[1]);
        at->Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

// Four calls each.
static void waits(const struct api *at, int calls)
{
    for (calls /= 4; calls > 0; calls--) {
        MPI_Request requests[2];
        at->Irecv(other, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &requests[0]);
        at->Isend(buffer, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &requests[1]);
        at->Wait(&requests[0], MPI_STATUS_IGNORE);
        at->Wait(&requests[1], MPI_STATUS_IGNORE);
    }
}

// Three calls each, of which Irecv is bare.
static void start_wait(const struct api *at, int calls)
{
    MPI_Request request;
    for (calls /= 2; calls > 0; calls--) {
        bare.Irecv(other, 1, MPI_DOUBLE, 0, 2, MPI_COMM_SELF, &request);
        at->Start(&persistent);
        at->Wait(&persistent, MPI_STATUS_IGNORE);
        bare.Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void allreduce(const struct api *at, int calls)
{
    while (calls-- > 0)
        at->Allreduce(buffer, other, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static void bcast(const struct api *at, int calls)
{
    while (calls-- > 0)
        at->Bcast(buffer, 1, MPI_DOUBLE, 0, MPI_COMM_SELF);
}

static void barrier(const struct api *at, int calls)
{
    while (calls-- > 0)
        at->Barrier(MPI_COMM_SELF);
}

static void alltoallv(const struct api *at, int calls)
{
    static const int one = 1, nothing;
    while (calls-- > 0)
        at->Alltoallv(buffer, &one, &nothing, MPI_DOUBLE, other, &one, &nothing, MPI_DOUBLE,
                      MPI_COMM_SELF);
}

static void put(const struct api *at, int calls)
{
    while (calls-- > 0)
        at->Put(buffer, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window);
}

static void accumulate(const struct api *at, int calls)
{
    while (calls-- > 0)
        at->Accumulate(buffer, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, window);
}

static void file_write(const struct api *at, int calls)
{
    while (calls-- > 0)
        at->File_write_at(file, 0, buffer, 8, MPI_BYTE, MPI_STATUS_IGNORE);
}

// Two calls each.
static void ping_pong_of(const struct api *at, int calls, int count)
{
    for (calls /= 2; calls > 0; calls--) {
        if (world_rank == 0) {
            at->Send(buffer, count, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
            at->Recv(other, count, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            at->Recv(other, count, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            at->Send(buffer, count, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
        }
    }
}

static void ping_pong_8(const struct api *at, int calls)
{
    ping_pong_of(at, calls, 8);
}

static void ping_pong_large(const struct api *at, int calls)
{
    ping_pong_of(at, calls, LARGE);
}

static void allreduce_world(const struct api *at, int calls)
{
    while (calls-- > 0)
        at->Allreduce(buffer, other, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

// The same routines in Fortran, which knows them by these numbers.
static block *const in_fortran[] = {comm_rank, iprobe, sendrecv_8, allreduce, waitall};
static int fortran_block;
static void (*fortran)(int which, int calls);

static void by_fortran(const struct api *at, int calls)
{
    if (at == &seen)
        fortran(fortran_block, calls);
    else
        in_fortran[fortran_block](at, calls);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double time_of(block *timed, const struct api *at, int calls)
{
    double begin = now();
    timed(at, calls);
    return (now() - begin) / calls;
}

static void measure(const char *name, block *timed, int calls, int pairs)
{
    double *more = malloc(sizeof(double) * (size_t)pairs), *base = malloc(sizeof(double) * (size_t)pairs);
    if (more == NULL || base == NULL)
        exit(1);
    time_of(timed, &seen, calls);
    for (int at = 0; at < pairs; at++) {
        // Neither side is always the first.
        int first = at % 2 == 0;
        double a = time_of(timed, first ? &seen : &bare, calls);
        double b = time_of(timed, first ? &bare : &seen, calls);
        more[at] = first ? a - b : b - a;
        base[at] = first ? b : a;
    }
    qsort(more, (size_t)pairs, sizeof *more, ascending);
    qsort(base, (size_t)pairs, sizeof *base, ascending);
    if (world_rank == 0)
        printf("%s %.2f %.2f %.2f %.2f\n", name, more[pairs / 2], more[pairs / 4],
               more[3 * pairs / 4], base[pairs / 2]);
    free(more);
    free(base);
}

// Called by the MPI, inside of a call: what is called here is nested.
static void nested(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    measure("nested:Comm_rank", comm_rank, CALLS, pairs);
    measure("nested:Iprobe", iprobe, CALLS, pairs);
}

static void alone(void)
{
    measure("Comm_rank", comm_rank, CALLS, pairs);
    measure("Type_size", type_size, CALLS, pairs);
    measure("Iprobe", iprobe, CALLS, pairs);
    measure("Test,pending", test, CALLS, pairs);
    measure("Send,8_B", send_8, CALLS, pairs);
    measure("Send,8_B_of_a_vector", send_column, CALLS, pairs);
    measure("Recv,8_B", recv_8, CALLS, pairs);
    measure("Recv,any_source", recv_any, CALLS, pairs);
    measure("Sendrecv,8_B", sendrecv_8, CALLS, pairs);
    measure("Irecv_Isend_Waitall", waitall, CALLS, pairs);
    measure("Irecv_Isend_Wait_Wait", waits, CALLS, pairs);
    measure("Start_Wait", start_wait, CALLS, pairs);
    measure("Barrier", barrier, CALLS, pairs);
    measure("Bcast,8_B", bcast, CALLS, pairs);
    measure("Allreduce,8_B", allreduce, CALLS, pairs);
    measure("Alltoallv,8_B", alltoallv, CALLS, pairs);
    MPI_Win_lock_all(0, window);
    // Both MPIs keep what is under way until a flush; ours to a rank of the same memory is done.
    measure("Put,8_B", put, CALLS, pairs);
    measure("Accumulate,8_B", accumulate, CALLS, pairs);
    MPI_Win_unlock_all(window);
    measure("File_write_at,8_B", file_write, 30, pairs / 4 + 1);
    measure("Sendrecv,1_MB", sendrecv_large, 4, pairs);

    static const char *const names[] = {"Comm_rank", "Iprobe", "Sendrecv,8_B", "Allreduce,8_B",
                                        "Irecv_Isend_Waitall"};
    for (int which = 0; which < 5; which++) {
        char name[64];
        fortran_block = which;
        fortran = mpif_block;
        snprintf(name, sizeof name, "mpi:%s", names[which]);
        measure(name, by_fortran, CALLS, pairs);
        fortran = f08_block;
        snprintf(name, sizeof name, "f08:%s", names[which]);
        measure(name, by_fortran, CALLS, pairs);
    }

    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(nested, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
}

int main(int argc, char **argv)
{
    int paused = 0, level = MPI_THREAD_SINGLE, provided, size;
    pairs = argc > 1 ? atoi(argv[1]) : 401;
    for (int at = 2; at < argc; at++) {
        paused |= strcmp(argv[at], "paused") == 0;
        if (strcmp(argv[at], "threads") == 0)
            level = MPI_THREAD_MULTIPLE;
    }
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    seen = seen_api();
    bare = bare_api();
    buffer = calloc(1, LARGE);
    other = calloc(1, LARGE);
    if (buffer == NULL || other == NULL)
        return 1;

    if (paused)
        MPI_Pcontrol(0);
    if (size == 1) {
        double *memory;
        char name[] = "/dev/shm/topas-bench.XXXXXX";
        int fd = mkstemp(name);
        if (fd < 0)
            return 1;
        MPI_Irecv(buffer, 1, MPI_INT, 0, 77, MPI_COMM_SELF, &pending);
        MPI_Send_init(buffer, 1, MPI_DOUBLE, 0, 2, MPI_COMM_SELF, &persistent);
        MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &window);
        MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        MPI_Type_vector(2, 1, 4, MPI_FLOAT, &column);
        MPI_Type_commit(&column);
        alone();
        MPI_Type_free(&column);
        MPI_File_close(&file);
        remove(name);
        MPI_Win_free(&window);
        MPI_Request_free(&persistent);
        MPI_Cancel(&pending);
        MPI_Wait(&pending, MPI_STATUS_IGNORE);
    } else {
        measure("ping-pong,8_B", ping_pong_8, CALLS, pairs);
        measure("Allreduce,8_B,2_ranks", allreduce_world, CALLS, pairs);
        measure("ping-pong,1_MB", ping_pong_large, 8, pairs);
    }
    MPI_Finalize();
    return 0;
}
