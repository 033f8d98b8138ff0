// mpi_instructions [paused]: calls routines so that valgrind's callgrind counts the instructions
// of each: a part of its output for each, by name, of CALLS calls. With mpi_nothing.c as the MPI
// the difference to the same program with nothing in front is what is in front.

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <valgrind/callgrind.h>

#define CALLS 1000

static double a[4], b[4];
static MPI_Comm other;
static MPI_Fint one = 1, zero, handle, status[8], error;

void mpi_comm_rank_(MPI_Fint *comm, MPI_Fint *rank, MPI_Fint *error);
void mpi_barrier_(MPI_Fint *comm, MPI_Fint *error);
void mpi_allreduce_(void *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
void mpi_send_(void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
void mpi_sendrecv_(void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, void *, MPI_Fint *,
                   MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);

// Caches of datatypes, communicators and requests are warm when the counting begins.
#define COUNT(name, call)                                                                         \
    do {                                                                                          \
        for (int i = 0; i < 8; i++) {                                                             \
            call;                                                                                 \
        }                                                                                         \
        CALLGRIND_ZERO_STATS;                                                                     \
        for (int i = 0; i < CALLS; i++) {                                                         \
            call;                                                                                 \
        }                                                                                         \
        CALLGRIND_DUMP_STATS_AT(name);                                                            \
    } while (0)

static void exchange(MPI_Comm comm)
{
    MPI_Request requests[2];
    MPI_Irecv(b, 1, MPI_DOUBLE, 0, 1, comm, &requests[0]);
    MPI_Isend(a, 1, MPI_DOUBLE, 0, 1, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void exchange_one_by_one(MPI_Comm comm)
{
    MPI_Request requests[2];
    MPI_Irecv(b, 1, MPI_DOUBLE, 0, 1, comm, &requests[0]);
    MPI_Isend(a, 1, MPI_DOUBLE, 0, 1, comm, &requests[1]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static void start(MPI_Request *request)
{
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

// As Sendrecv, because a request has to come from somewhere.
static void post(MPI_Comm comm)
{
    MPI_Request requests[2];
    MPI_Irecv(b, 1, MPI_DOUBLE, 0, 1, comm, &requests[0]);
    MPI_Isend(a, 1, MPI_DOUBLE, 0, 1, comm, &requests[1]);
}

int main(int argc, char **argv)
{
    static const int ones[1] = {1}, zeros[1];
    int rank, size, flag;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Barrier(other);
    if (argc > 1 && strcmp(argv[1], "paused") == 0)
        MPI_Pcontrol(0);

    COUNT("Comm_rank", MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    COUNT("Type_size", MPI_Type_size(MPI_DOUBLE, &size));
    COUNT("Barrier", MPI_Barrier(MPI_COMM_WORLD));
    COUNT("Barrier, another communicator", MPI_Barrier(other));
    COUNT("Bcast", MPI_Bcast(a, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    COUNT("Allreduce", MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    COUNT("Allreduce, another communicator", MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_SUM, other));
    COUNT("Alltoallv", MPI_Alltoallv(a, ones, zeros, MPI_DOUBLE, b, ones, zeros, MPI_DOUBLE,
                                     MPI_COMM_WORLD));
    COUNT("Send", MPI_Send(a, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD));
    COUNT("Send, another communicator", MPI_Send(a, 1, MPI_DOUBLE, 0, 1, other));
    COUNT("Recv", MPI_Recv(b, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    COUNT("Recv from any source", MPI_Recv(b, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG,
                                           MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    COUNT("Sendrecv", MPI_Sendrecv(a, 1, MPI_DOUBLE, 0, 1, b, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD,
                                   MPI_STATUS_IGNORE));
    COUNT("Irecv + Isend", post(MPI_COMM_WORLD));
    COUNT("Irecv + Isend + Waitall", exchange(MPI_COMM_WORLD));
    COUNT("Irecv + Isend + Waitall, another communicator", exchange(other));
    COUNT("Irecv + Isend + Wait + Wait", exchange_one_by_one(MPI_COMM_WORLD));
    MPI_Irecv(b, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &request);
    COUNT("Test in vain", MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send_init(a, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &request);
    COUNT("Start + Wait", start(&request));
    COUNT("Fortran: Comm_rank", mpi_comm_rank_(&handle, &rank, &error));
    COUNT("Fortran: Barrier", mpi_barrier_(&handle, &error));
    COUNT("Fortran: Allreduce",
          mpi_allreduce_(a, b, &one, &handle, &handle, &handle, &error));
    COUNT("Fortran: Send", mpi_send_(a, &one, &handle, &zero, &one, &handle, &error));
    COUNT("Fortran: Sendrecv", mpi_sendrecv_(a, &one, &handle, &zero, &one, b, &one, &handle, &zero,
                                             &one, &handle, status, &error));
    MPI_Finalize();
    return 0;
}
