// A PMPI tool as users write them: counts calls of a few functions and prints the sums of all ranks at
// the end, by NAME. Linked as object, archive, or library.

#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>

#ifndef NAME
#define NAME "tool"
#endif

static struct {
    long sends, bytes, receives, barriers, reductions;
} own;

int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    int size;
    PMPI_Type_size(type, &size);
    own.sends++;
    own.bytes += (long)count * size;
    return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    own.receives++;
    return PMPI_Recv(data, count, type, from, tag, comm, status);
}

int MPI_Barrier(MPI_Comm comm)
{
    own.barriers++;
    return PMPI_Barrier(comm);
}

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    own.reductions++;
    return PMPI_Allreduce(in, out, count, type, op, comm);
}

int MPI_Finalize(void)
{
    int rank;
    long sum[5] = {0};
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Reduce(&own, sum, 5, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf(NAME ": Send %ld, %ld B, Recv %ld, Barrier %ld, Allreduce %ld\n", sum[0], sum[1], sum[2],
               sum[3], sum[4]);
        fflush(stdout);
    }
    return PMPI_Finalize();
}
