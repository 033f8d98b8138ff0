// mpi_start OUT [ROUTINES]: begins, calls so many routines of MPI once each, and ends. Each rank
// appends a line to OUT: microseconds of MPI_Init, of MPI_Finalize and of processor time, then kB:
// of its memory before MPI_Finalize that is anonymous, of files, and shared, and the most it had.

#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int size, flag, zeros[16];
static char text[MPI_MAX_ERROR_STRING + MPI_MAX_LIBRARY_VERSION_STRING];
static double value[4], other[4];
static MPI_Aint lower, extent;
static MPI_Count large;
static MPI_Status status;
static MPI_Group group, subgroup;
static MPI_Comm comm;
static MPI_Datatype type;
static MPI_Info info;
static MPI_Request request;
static MPI_Op op;
static MPI_Errhandler handler;
static MPI_Message message;
static void *pointer;

static void nothing(void *in, void *out, int *count, MPI_Datatype *of)
{
    (void)in, (void)out, (void)count, (void)of;
}

#define SELF MPI_COMM_SELF
#define ONE value, 1, MPI_DOUBLE

// By number, each a routine of its own.
static void routine(int number)
{
#define CALL(code)                                                                                \
    case __COUNTER__:                                                                             \
        code;                                                                                     \
        break
    switch (number) {
        CALL(MPI_Barrier(SELF));
        CALL(MPI_Bcast(ONE, 0, SELF));
        CALL(MPI_Allreduce(value, other, 1, MPI_DOUBLE, MPI_SUM, SELF));
        CALL(MPI_Reduce(value, other, 1, MPI_DOUBLE, MPI_SUM, 0, SELF));
        CALL(MPI_Irecv(other, 1, MPI_DOUBLE, 0, 1, SELF, &request));
        CALL(MPI_Send(ONE, 0, 1, SELF));
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CALL(MPI_Isend(ONE, 0, 2, SELF, &request));
        CALL(MPI_Probe(0, 2, SELF, &status));
        CALL(MPI_Recv(other, 1, MPI_DOUBLE, 0, 2, SELF, &status));
        CALL(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
        CALL(MPI_Sendrecv(ONE, 0, 3, other, 1, MPI_DOUBLE, 0, 3, SELF, &status));
        CALL(MPI_Sendrecv_replace(ONE, 0, 3, 0, 3, SELF, &status));
        CALL(MPI_Get_count(&status, MPI_DOUBLE, &size));
        CALL(MPI_Get_elements(&status, MPI_DOUBLE, &size));
        CALL(MPI_Iprobe(0, 9, SELF, &flag, &status));
        CALL(MPI_Improbe(0, 9, SELF, &flag, &message, &status));
        CALL(MPI_Gather(ONE, other, 1, MPI_DOUBLE, 0, SELF));
        CALL(MPI_Scatter(ONE, other, 1, MPI_DOUBLE, 0, SELF));
        CALL(MPI_Allgather(ONE, other, 1, MPI_DOUBLE, SELF));
        CALL(MPI_Alltoall(ONE, other, 1, MPI_DOUBLE, SELF));
        CALL(MPI_Scan(value, other, 1, MPI_DOUBLE, MPI_SUM, SELF));
        CALL(MPI_Exscan(value, other, 1, MPI_DOUBLE, MPI_SUM, SELF));
        CALL(MPI_Reduce_scatter_block(value, other, 1, MPI_DOUBLE, MPI_SUM, SELF));
        CALL(MPI_Ibarrier(SELF, &request); MPI_Wait(&request, MPI_STATUS_IGNORE));
        CALL(MPI_Ibcast(ONE, 0, SELF, &request); MPI_Wait(&request, MPI_STATUS_IGNORE));
        CALL(MPI_Comm_rank(SELF, &size));
        CALL(MPI_Comm_size(SELF, &size));
        CALL(MPI_Comm_dup(SELF, &comm));
        CALL(MPI_Comm_set_name(comm, "bench"));
        CALL(MPI_Comm_get_name(comm, text, &size));
        CALL(MPI_Comm_compare(comm, SELF, &flag));
        CALL(MPI_Comm_test_inter(comm, &flag));
        CALL(MPI_Comm_group(comm, &group));
        CALL(MPI_Comm_free(&comm));
        CALL(MPI_Comm_split(SELF, 0, 0, &comm); MPI_Comm_free(&comm));
        CALL(MPI_Group_size(group, &size));
        CALL(MPI_Group_rank(group, &size));
        CALL(MPI_Group_incl(group, 1, zeros, &subgroup));
        CALL(MPI_Group_compare(group, subgroup, &flag));
        CALL(MPI_Group_translate_ranks(group, 1, zeros, subgroup, &size));
        CALL(MPI_Group_free(&group));
        CALL(MPI_Type_contiguous(2, MPI_DOUBLE, &type));
        CALL(MPI_Type_commit(&type));
        CALL(MPI_Type_size(type, &size));
        CALL(MPI_Type_size_x(type, &large));
        CALL(MPI_Type_get_extent(type, &lower, &extent));
        CALL(MPI_Type_set_name(type, "pair"));
        CALL(MPI_Type_get_name(type, text, &size));
        CALL(MPI_Type_free(&type));
        CALL(MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &type); MPI_Type_free(&type));
        CALL(MPI_Pack_size(1, MPI_DOUBLE, SELF, &size));
        CALL(MPI_Info_create(&info));
        CALL(MPI_Info_set(info, "key", "value"));
        CALL(MPI_Info_get_nkeys(info, &size));
        CALL(MPI_Info_free(&info));
        CALL(MPI_Op_create(nothing, 1, &op));
        CALL(MPI_Op_commutative(op, &flag));
        CALL(MPI_Op_free(&op));
        CALL(MPI_Comm_get_errhandler(SELF, &handler));
        CALL(MPI_Get_address(value, &lower));
        CALL(MPI_Get_processor_name(text, &size));
        CALL(MPI_Get_version(&size, &flag));
        CALL(MPI_Alloc_mem(64, MPI_INFO_NULL, &pointer));
        CALL(MPI_Free_mem(pointer));
    }
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

// A value of /proc/self/status in kB.
static long status_of(const char *key)
{
    char line[256];
    long found = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            found = atol(line + strlen(key) + 1);
    if (file != NULL)
        fclose(file);
    return found;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    int routines = argc > 2 ? atoi(argv[2]) : 0;
    double begin = now();
    MPI_Init(&argc, &argv);
    double initialized = now();
    for (int number = 0; number < routines; number++)
        routine(number);
    long anonymous = status_of("RssAnon:"), files = status_of("RssFile:");
    long shared = status_of("RssShmem:");
    // All begin to end at the same moment, so that none waits for a late one.
    PMPI_Barrier(MPI_COMM_WORLD);
    double ending = now();
    MPI_Finalize();
    double ended = now();
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    double seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
    double cpu = 1e6 * seconds + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    char line[256];
    int length = snprintf(line, sizeof line, "%.0f %.0f %.0f %ld %ld %ld %ld\n",
                          initialized - begin, ended - ending, cpu, anonymous, files, shared,
                          status_of("VmHWM:"));
    int fd = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0666);
    return fd < 0 || write(fd, line, (size_t)length) != length;
}
