// An MPI whose functions do nothing: what is executed in a call of it with something in front is
// the cost of that alone. To be compiled with the header of an MPI, whose binary interface it has;
// of one process. Its Fortran calls its C by the names of the profiling interface, as that of the
// MPIs does.

#include <mpi.h>
#include <string.h>

#ifdef OPEN_MPI
// Predefined objects are variables of the library; that of a datatype begins with its size.
#define OBJECT(name)                                                                              \
    __asm__(".pushsection .data\n.globl " #name "\n.type " #name ", @object\n.size " #name       \
            ", 64\n.balign 64\n" #name ": .zero 64\n.popsection");
OBJECT(ompi_mpi_comm_world)
OBJECT(ompi_mpi_comm_self)
OBJECT(ompi_mpi_comm_null)
OBJECT(ompi_request_null)
OBJECT(ompi_message_no_proc)
OBJECT(ompi_mpi_op_no_op)
OBJECT(ompi_mpi_op_bor)
OBJECT(ompi_mpi_op_sum)
OBJECT(ompi_mpi_byte)
OBJECT(ompi_mpi_double)
OBJECT(ompi_request_empty)
OBJECT(ompi_nothing_comm)
OBJECT(ompi_nothing_group)
OBJECT(ompi_nothing_request)
extern char ompi_nothing_comm[], ompi_nothing_group[], ompi_nothing_request[];
#define NEW_COMM ((MPI_Comm)(void *)ompi_nothing_comm)
#define NEW_GROUP ((MPI_Group)(void *)ompi_nothing_group)
#define NEW_REQUEST(i) ((MPI_Request)(void *)(ompi_nothing_request + 8 * (i)))
#else
#define NEW_COMM ((MPI_Comm)0x84000001)
#define NEW_GROUP ((MPI_Group)0x88000001)
#define NEW_REQUEST(i) ((MPI_Request)(0x98000000 + (int)(i)))
#endif

#define DEFINE(type, name, parameters, body)                                                      \
    type P##name parameters                                                                       \
    {                                                                                             \
        body                                                                                      \
    }                                                                                             \
    extern __typeof__(P##name) name __attribute__((weak, alias("P" #name)));

#define ANSWER(name, parameters, body) DEFINE(int, name, parameters, { body; return MPI_SUCCESS; })

#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wattributes"

static unsigned given;
static int initialized;

ANSWER(MPI_Init, (int *c, char ***v), initialized = 1)
ANSWER(MPI_Init_thread, (int *c, char ***v, int level, int *provided),
       (initialized = 1, *provided = level))
ANSWER(MPI_Finalize, (void), )
ANSWER(MPI_Initialized, (int *flag), *flag = initialized)
ANSWER(MPI_Query_thread, (int *level), *level = MPI_THREAD_SINGLE)
ANSWER(MPI_Get_library_version, (char *text, int *length),
       (strcpy(text, "MPICH Version: 4 that does nothing"), *length = (int)strlen(text)))
ANSWER(MPI_Comm_rank, (MPI_Comm comm, int *rank), *rank = 0)
ANSWER(MPI_Comm_size, (MPI_Comm comm, int *size), *size = 1)
ANSWER(MPI_Comm_test_inter, (MPI_Comm comm, int *flag), *flag = 0)
ANSWER(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm *to), *to = NEW_COMM)
ANSWER(MPI_Comm_group, (MPI_Comm comm, MPI_Group *group), *group = NEW_GROUP)
ANSWER(MPI_Group_compare, (MPI_Group a, MPI_Group b, int *result), *result = MPI_IDENT)
ANSWER(MPI_Group_free, (MPI_Group *group), )
ANSWER(MPI_Type_size, (MPI_Datatype type, int *size), *size = type == MPI_BYTE ? 1 : 8)
ANSWER(MPI_Type_size_x, (MPI_Datatype type, MPI_Count *size), *size = type == MPI_BYTE ? 1 : 8)
ANSWER(MPI_Pcontrol, (const int level, ...), )

static void status_of(MPI_Status *status, int source, MPI_Count bytes)
{
    status->MPI_SOURCE = source;
    status->MPI_ERROR = MPI_SUCCESS;
#ifdef OPEN_MPI
    status->_ucount = (size_t)bytes;
#else
    status->count_lo = (int)bytes;
    status->count_hi_and_cancelled = (status->count_hi_and_cancelled & 1) | (int)(bytes >> 32) << 1;
#endif
}

ANSWER(MPI_Status_set_elements, (MPI_Status *status, MPI_Datatype type, int count),
       status_of(status, 0, count))
#ifdef OPEN_MPI
ANSWER(MPI_Status_set_cancelled, (MPI_Status *status, int flag), status->_cancelled = flag)
#else
ANSWER(MPI_Status_set_cancelled, (MPI_Status *status, int flag),
       status->count_hi_and_cancelled = (status->count_hi_and_cancelled & ~1) | flag)
#endif
ANSWER(MPI_Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status),
       (*flag = source == MPI_PROC_NULL,
        status != MPI_STATUS_IGNORE && *flag ? status_of(status, source, 0) : (void)0))

ANSWER(MPI_Barrier, (MPI_Comm comm), )
ANSWER(MPI_Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm comm), )
ANSWER(MPI_Allreduce, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm), )
ANSWER(MPI_Alltoallv,
       (const void *a, const int m[], const int d[], MPI_Datatype t, void *b, const int n[],
        const int e[], MPI_Datatype u, MPI_Comm comm), )
ANSWER(MPI_Send, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm comm), )
ANSWER(MPI_Recv,
       (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm comm, MPI_Status *status),
       status != MPI_STATUS_IGNORE ? status_of(status, 0, 8) : (void)0)
ANSWER(MPI_Sendrecv,
       (const void *a, int m, MPI_Datatype t, int to, int tag, void *b, int n, MPI_Datatype u,
        int from, int tag2, MPI_Comm comm, MPI_Status *status),
       status != MPI_STATUS_IGNORE ? status_of(status, 0, 8) : (void)0)
ANSWER(MPI_Isend,
       (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm comm, MPI_Request *r),
       *r = NEW_REQUEST(given++ % 4))
ANSWER(MPI_Irecv,
       (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm comm, MPI_Request *r),
       *r = NEW_REQUEST(given++ % 4))
// There is one persistent request.
#define PERSISTENT NEW_REQUEST(4)
ANSWER(MPI_Send_init,
       (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm comm, MPI_Request *r),
       *r = PERSISTENT)
ANSWER(MPI_Start, (MPI_Request *r), )
ANSWER(MPI_Wait, (MPI_Request *r, MPI_Status *status),
       (*r = *r == PERSISTENT ? PERSISTENT : MPI_REQUEST_NULL, status != MPI_STATUS_IGNORE ? status_of(status, 0, 8) : (void)0))
ANSWER(MPI_Test, (MPI_Request *r, int *flag, MPI_Status *status), *flag = 0)
ANSWER(MPI_Waitall, (int n, MPI_Request r[], MPI_Status *statuses),
       for (int i = 0; i < n; i++) {
           r[i] = MPI_REQUEST_NULL;
           if (statuses != MPI_STATUSES_IGNORE)
               status_of(&statuses[i], 0, 8);
       })

// Fortran: one communicator, one datatype, one operator, no requests of its own.

void mpi_comm_rank_(MPI_Fint *comm, MPI_Fint *rank, MPI_Fint *error)
{
    *error = PMPI_Comm_rank(MPI_COMM_WORLD, rank);
}

void mpi_barrier_(MPI_Fint *comm, MPI_Fint *error)
{
    *error = PMPI_Barrier(MPI_COMM_WORLD);
}

void mpi_allreduce_(void *a, void *b, MPI_Fint *n, MPI_Fint *t, MPI_Fint *op, MPI_Fint *comm,
                    MPI_Fint *error)
{
    *error = PMPI_Allreduce(a, b, *n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

void mpi_send_(void *b, MPI_Fint *n, MPI_Fint *t, MPI_Fint *to, MPI_Fint *tag, MPI_Fint *comm,
               MPI_Fint *error)
{
    *error = PMPI_Send(b, *n, MPI_DOUBLE, *to, *tag, MPI_COMM_WORLD);
}

void mpi_sendrecv_(void *a, MPI_Fint *m, MPI_Fint *t, MPI_Fint *to, MPI_Fint *tag, void *b,
                   MPI_Fint *n, MPI_Fint *u, MPI_Fint *from, MPI_Fint *tag2, MPI_Fint *comm,
                   MPI_Fint *status, MPI_Fint *error)
{
    *error = PMPI_Sendrecv(a, *m, MPI_DOUBLE, *to, *tag, b, *n, MPI_DOUBLE, *from, *tag2,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
