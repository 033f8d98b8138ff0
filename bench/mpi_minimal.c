// The least that counting calls of MPI can cost: a wrapper written by hand for each function,
// which reads the time stamp counter twice and adds to a row of its thread: calls, time,
// longest, and for those that move bytes one message, its size and its place in a histogram.
// To be preloaded.

#include <mpi.h>
#include <stdint.h>
#include <x86intrin.h>

struct row {
    uint64_t calls, ticks, longest, messages, bytes, sizes[40];
};

enum { ACCUMULATE, ALLREDUCE, ALLTOALLV, BARRIER, BCAST, COMM_RANK, FILE_WRITE_AT, IPROBE, IRECV,
       ISEND, PUT, RECV, SEND, SENDRECV, START, TEST, TYPE_SIZE, WAIT, WAITALL, FUNCTIONS };

static __thread struct row rows[FUNCTIONS];

static inline void called(int function, uint64_t begin)
{
    struct row *row = &rows[function];
    uint64_t ticks = __rdtsc() - begin;
    row->calls++;
    row->ticks += ticks;
    if (ticks > row->longest)
        row->longest = ticks;
}

static inline void moved(int function, int count, MPI_Datatype type)
{
    struct row *row = &rows[function];
    int size;
    PMPI_Type_size(type, &size);
    uint64_t bytes = (uint64_t)count * (uint64_t)size;
    row->messages++;
    row->bytes += bytes;
    row->sizes[bytes ? 64 - __builtin_clzll(bytes) : 0]++;
}

#define WRAP(function, name, parameters, arguments, count)                                        \
    int MPI_##name parameters                                                                     \
    {                                                                                             \
        uint64_t begin = __rdtsc();                                                               \
        int code = PMPI_##name arguments;                                                         \
        count;                                                                                    \
        called(function, begin);                                                                  \
        return code;                                                                              \
    }

WRAP(COMM_RANK, Comm_rank, (MPI_Comm c, int *r), (c, r), )
WRAP(TYPE_SIZE, Type_size, (MPI_Datatype t, int *s), (t, s), )
WRAP(IPROBE, Iprobe, (int s, int t, MPI_Comm c, int *f, MPI_Status *st), (s, t, c, f, st), )
WRAP(TEST, Test, (MPI_Request *r, int *f, MPI_Status *s), (r, f, s), )
WRAP(WAIT, Wait, (MPI_Request *r, MPI_Status *s), (r, s), )
WRAP(WAITALL, Waitall, (int n, MPI_Request *r, MPI_Status *s), (n, r, s), )
WRAP(START, Start, (MPI_Request *r), (r), )
WRAP(SEND, Send, (const void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c),
     (b, n, t, d, g, c), moved(SEND, n, t))
WRAP(RECV, Recv, (void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c, MPI_Status *s),
     (b, n, t, d, g, c, s), moved(RECV, n, t))
WRAP(ISEND, Isend,
     (const void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c, MPI_Request *r),
     (b, n, t, d, g, c, r), moved(ISEND, n, t))
WRAP(IRECV, Irecv, (void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c, MPI_Request *r),
     (b, n, t, d, g, c, r), moved(IRECV, n, t))
WRAP(SENDRECV, Sendrecv,
     (const void *b, int n, MPI_Datatype t, int d, int g, void *q, int m, MPI_Datatype u, int e,
      int h, MPI_Comm c, MPI_Status *s),
     (b, n, t, d, g, q, m, u, e, h, c, s), moved(SENDRECV, n, t))
WRAP(BARRIER, Barrier, (MPI_Comm c), (c), )
WRAP(BCAST, Bcast, (void *b, int n, MPI_Datatype t, int r, MPI_Comm c), (b, n, t, r, c),
     moved(BCAST, n, t))
WRAP(ALLREDUCE, Allreduce,
     (const void *b, void *q, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (b, q, n, t, o, c),
     moved(ALLREDUCE, n, t))
WRAP(ALLTOALLV, Alltoallv,
     (const void *b, const int *n, const int *p, MPI_Datatype t, void *q, const int *m,
      const int *o, MPI_Datatype u, MPI_Comm c),
     (b, n, p, t, q, m, o, u, c), moved(ALLTOALLV, n[0], t))
WRAP(PUT, Put,
     (const void *b, int n, MPI_Datatype t, int r, MPI_Aint d, int m, MPI_Datatype u, MPI_Win w),
     (b, n, t, r, d, m, u, w), moved(PUT, n, t))
WRAP(ACCUMULATE, Accumulate,
     (const void *b, int n, MPI_Datatype t, int r, MPI_Aint d, int m, MPI_Datatype u, MPI_Op o,
      MPI_Win w),
     (b, n, t, r, d, m, u, o, w), moved(ACCUMULATE, n, t))
WRAP(FILE_WRITE_AT, File_write_at,
     (MPI_File f, MPI_Offset o, const void *b, int n, MPI_Datatype t, MPI_Status *s),
     (f, o, b, n, t, s), moved(FILE_WRITE_AT, n, t))
