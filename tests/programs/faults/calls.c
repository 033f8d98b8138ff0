// The calls of calls.F90 in C; with -DPROFILING by the names of the profiling interface.

#include <mpi.h>
#include <stdio.h>

#ifdef PROFILING
#define CALL(name) PMPI_##name
#else
#define CALL(name) MPI_##name
#endif

int main(int argc, char **argv)
{
    int rank, ranks, length, begun = 0, mine[10], theirs[10], all[40], to[40];
    char node[MPI_MAX_PROCESSOR_NAME];
    MPI_Comm comm;
    MPI_Datatype five;
    MPI_Request requests[2];
    CALL(Init)(&argc, &argv);
    CALL(Comm_rank)(MPI_COMM_WORLD, &rank);
    CALL(Comm_size)(MPI_COMM_WORLD, &ranks);
    CALL(Comm_dup)(MPI_COMM_WORLD, &comm);
    CALL(Comm_set_name)(comm, "own");
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    for (int i = 0; i < 10; i++)
        mine[i] = theirs[i] = rank * 100 + i + 1;
    CALL(Barrier)(comm);
    CALL(Bcast)(theirs, 10, MPI_INT, 0, comm);
    if (theirs[9] != 10)
        return 2;
    CALL(Allreduce)(mine, theirs, 10, MPI_INT, MPI_SUM, comm);
    CALL(Allreduce)(MPI_IN_PLACE, theirs, 10, MPI_INT, MPI_MAX, comm);
    CALL(Reduce)(mine, theirs, 10, MPI_INT, MPI_SUM, 0, comm);
    CALL(Gather)(mine, 10, MPI_INT, all, 10, MPI_INT, 0, comm);
    CALL(Allgather)(mine, 10, MPI_INT, all, 10, MPI_INT, comm);
    if (all[39] != (ranks - 1) * 100 + 10)
        return 3;
    CALL(Alltoall)(all, 10, MPI_INT, to, 10, MPI_INT, comm);
    CALL(Irecv)(theirs, 10, MPI_INT, left, 7, comm, &requests[0]);
    CALL(Isend)(mine, 10, MPI_INT, right, 7, comm, &requests[1]);
    CALL(Waitall)(2, requests, MPI_STATUSES_IGNORE);
    if (theirs[0] != left * 100 + 1)
        return 4;
    CALL(Type_contiguous)(5, MPI_INT, &five);
    CALL(Type_commit)(&five);
    CALL(Sendrecv)(mine, 1, five, right, 8, theirs, 1, five, left, 8, comm, MPI_STATUS_IGNORE);
    CALL(Type_free)(&five);
    CALL(Get_processor_name)(node, &length);
    CALL(Initialized)(&begun);
    if (!begun || length < 1)
        return 5;
    CALL(Barrier)(MPI_COMM_WORLD);
    CALL(Comm_free)(&comm);
    CALL(Finalize)();
    puts("good");
    return 0;
}
