// Arguments that mean nothing for this rank, filled with what must not be touched: null handles,
// pointers to nowhere, wild counts. The standard allows them all; profilers have looked at them.
//
// profile: ranks=4
// profile: Gather@0 sends=0 sent=0 received=48
// profile: Gather@1- sends=1 sent=16 received=0
// profile: Gatherv@0 sent=0 received=48
// profile: Gatherv@1- sent=16 received=0
// profile: Scatter@0 sent=48 received=0
// profile: Scatter@1- sent=0 received=16
// profile: Scatterv@0 sent=48 received=0
// profile: Scatterv@1- sent=0 received=16
// profile: Reduce@all calls=1
// profile: Allgather@all calls=1
// profile: Alltoall@all calls=1
// profile: Alltoallv@all calls=1
// profile: Alltoallw@all calls=1
// profile: Igather@all calls=1
// profile: Igather@1- sent=16 received=0
// profile: Send@all calls=1 sends=0 sent=0
// profile: Recv@all calls=1 receives=0 received=0
// profile: Comm_spawn@all calls=0

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WILD 0x70000000
#define NOWHERE ((void *)0x10)
#define NO_INTS ((int *)0x18)

static int data[64], other[64], counts[4] = {4, 4, 4, 4}, places[4] = {0, 4, 8, 12};

int main(int argc, char **argv)
{
    int rank;
    MPI_Request request;
    MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    int bytes[4] = {0, 16, 32, 48};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm comm = MPI_COMM_WORLD;
    for (int i = 0; i < 64; i++)
        data[i] = rank * 100 + i;
    if (rank == 0) {
        MPI_Gather(MPI_IN_PLACE, WILD, MPI_DATATYPE_NULL, data, 4, MPI_INT, 0, comm);
        MPI_Gatherv(MPI_IN_PLACE, WILD, MPI_DATATYPE_NULL, data, counts, places, MPI_INT, 0, comm);
        MPI_Scatter(data, 4, MPI_INT, MPI_IN_PLACE, WILD, MPI_DATATYPE_NULL, 0, comm);
        MPI_Scatterv(data, counts, places, MPI_INT, MPI_IN_PLACE, WILD, MPI_DATATYPE_NULL, 0, comm);
        MPI_Reduce(MPI_IN_PLACE, data, 4, MPI_INT, MPI_SUM, 0, comm);
        MPI_Igather(MPI_IN_PLACE, WILD, MPI_DATATYPE_NULL, data, 4, MPI_INT, 0, comm, &request);
    } else {
        MPI_Gather(data, 4, MPI_INT, NOWHERE, WILD, MPI_DATATYPE_NULL, 0, comm);
        MPI_Gatherv(data, 4, MPI_INT, NOWHERE, NO_INTS, NO_INTS, MPI_DATATYPE_NULL, 0, comm);
        MPI_Scatter(NOWHERE, WILD, MPI_DATATYPE_NULL, data, 4, MPI_INT, 0, comm);
        MPI_Scatterv(NOWHERE, NO_INTS, NO_INTS, MPI_DATATYPE_NULL, data, 4, MPI_INT, 0, comm);
        MPI_Reduce(data, NOWHERE, 4, MPI_INT, MPI_SUM, 0, comm);
        MPI_Igather(data, 4, MPI_INT, NOWHERE, WILD, MPI_DATATYPE_NULL, 0, comm, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allgather(MPI_IN_PLACE, WILD, MPI_DATATYPE_NULL, data, 4, MPI_INT, comm);
    MPI_Alltoall(MPI_IN_PLACE, WILD, MPI_DATATYPE_NULL, data, 4, MPI_INT, comm);
    MPI_Alltoallv(MPI_IN_PLACE, NO_INTS, NO_INTS, MPI_DATATYPE_NULL, data, counts, places, MPI_INT, comm);
    MPI_Alltoallw(MPI_IN_PLACE, NO_INTS, NO_INTS, NOWHERE, data, counts, bytes, types, comm);
    MPI_Sendrecv(data, 1, MPI_INT, MPI_PROC_NULL, 0, other, 1, MPI_INT, MPI_PROC_NULL, 0, comm,
                 MPI_STATUS_IGNORE);
    MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, 0, comm);
    MPI_Recv(data, 1, MPI_INT, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE);

    // Nothing to wait for: the other arguments may be anything.
    int index = 0, flag = 0, outcount = 0;
    MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status[2];
    MPI_Waitall(2, none, status);
    MPI_Waitany(2, none, &index, status);
    MPI_Testany(2, none, &index, &flag, status);
    MPI_Waitsome(2, none, &outcount, &index, status);
    MPI_Waitall(0, NULL, NULL);
    MPI_Wait(none, status);
    MPI_Test(none, &flag, status);

    // A communicator that only some get, and a free that some take part in with a null handle.
    MPI_Comm part;
    MPI_Comm_split(comm, rank == 0 ? MPI_UNDEFINED : 1, rank, &part);
    if (part != MPI_COMM_NULL) {
        MPI_Barrier(part);
        MPI_Comm_free(&part);
    }
    int sum = 0;
    for (int i = 0; i < 16; i++)
        sum += data[i];
    printf("%d: %d %d %d\n", rank, sum, outcount == MPI_UNDEFINED, flag);
    MPI_Finalize();
    return 0;
}
