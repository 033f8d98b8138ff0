/* Writes its own list of calls, to be compared with the event log: a file DIR/calls.RANK with a line for
   each call. calls DIR ROUNDS [killed] */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *list;

/* ROUTINE PEER SOURCE TAG SENT RECEIVED, ranks of the world; -1 is none. */
static void note(const char *routine, int peer, int source, int tag, int sent, int received)
{
    if (list)
        fprintf(list, "%s %d %d %d %d %d\n", routine, peer, source, tag, sent, received);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    char name[4096], buffer[4096];
    int rounds = argc > 2 ? atoi(argv[2]) : 1;
    memset(buffer, 0, sizeof buffer);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(name, sizeof name, "%s/calls.%d", argv[1], rank);
    list = fopen(name, "w");
    if (!list)
        MPI_Abort(MPI_COMM_WORLD, 3);
    setvbuf(list, NULL, _IOLBF, 0);
    note("MPI_Init", -1, -1, -1, 0, 0);
    note("MPI_Comm_rank", -1, -1, -1, 0, 0);
    note("MPI_Comm_size", -1, -1, -1, 0, 0);
    /* In the other order: ranks of this communicator are not those of the world. */
    MPI_Comm turned;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    note("MPI_Comm_split", -1, -1, -1, 0, 0);
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    for (int i = 0; i < rounds; i++) {
        MPI_Request requests[2];
        int bytes = 8 + i % 3 * 100;
        MPI_Irecv(buffer, 4096, MPI_BYTE, left, i % 5, MPI_COMM_WORLD, &requests[0]);
        note("MPI_Irecv", left, -1, i % 5, 0, 0);
        MPI_Isend(buffer, bytes, MPI_BYTE, right, i % 5, MPI_COMM_WORLD, &requests[1]);
        note("MPI_Isend", right, -1, i % 5, bytes, 0);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        note("MPI_Waitall", -1, -1, -1, 0, bytes);
        MPI_Sendrecv(buffer, 24, MPI_BYTE, right, 9, buffer + 2048, 24, MPI_BYTE, left, 9, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        note("MPI_Sendrecv", right, left, 9, 24, 24);
        if (rank == 0) {
            MPI_Send(buffer, 40, MPI_BYTE, ranks - 1 - 1, 77, turned);
            note("MPI_Send", 1, -1, 77, 40, 0);
        } else if (rank == 1) {
            MPI_Recv(buffer, 4096, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, turned, MPI_STATUS_IGNORE);
            note("MPI_Recv", 0, -1, 77, 0, 40);
        }
        /* Each waits once for what was received, of changing length, and once for what was sent. */
        bytes = 16 + i % 7 * 9;
        MPI_Irecv(buffer, 4096, MPI_BYTE, left, 33, MPI_COMM_WORLD, &requests[0]);
        note("MPI_Irecv", left, -1, 33, 0, 0);
        MPI_Isend(buffer + 2048, bytes, MPI_BYTE, right, 33, MPI_COMM_WORLD, &requests[1]);
        note("MPI_Isend", right, -1, 33, bytes, 0);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        note("MPI_Wait", -1, -1, -1, 0, bytes);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        note("MPI_Wait", -1, -1, -1, 0, 0);
        /* Both others send to rank 2, which names the source or the tag, and leaves the other open. */
        if (rank < 2) {
            bytes = 30 + rank * i % 4;
            MPI_Send(buffer, bytes, MPI_BYTE, 2, 50 + rank, MPI_COMM_WORLD);
            note("MPI_Send", 2, -1, 50 + rank, bytes, 0);
        }
        for (int k = 0; rank == 2 && k < 2; k++) {
            int from = (i + k) % 2, any = i % 4 < 2 || k == 1;
            int tag = any ? 50 + from : MPI_ANY_TAG;
            MPI_Recv(buffer, 4096, MPI_BYTE, any ? MPI_ANY_SOURCE : from, tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            note("MPI_Recv", from, -1, 50 + from, 0, 30 + from * i % 4);
        }
        MPI_Bcast(buffer, 16, MPI_BYTE, i % ranks, MPI_COMM_WORLD);
        note("MPI_Bcast", i % ranks, -1, -1, rank == i % ranks ? 16 : 0, rank == i % ranks ? 0 : 16);
        if (i == rounds / 2) {
            MPI_Pcontrol(0);
            note("pause", -1, -1, -1, 0, 0);
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Pcontrol(1);
            note("MPI_Pcontrol", -1, -1, -1, 0, 0);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        note("MPI_Barrier", -1, -1, -1, 0, 0);
    }
    if (argc > 3) {
        /* The launcher kills the others: all lists are complete by then. */
        fclose(list);
        while (rank != 0)
            pause();
        sleep(1);
        raise(SIGKILL);
    }
    MPI_Comm_free(&turned);
    note("MPI_Comm_free", -1, -1, -1, 0, 0);
    note("MPI_Finalize", -1, -1, -1, 0, 0);
    MPI_Finalize();
    return 0;
}
