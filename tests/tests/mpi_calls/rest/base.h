/* Two processes that call what moves no bytes. Errors come back: that a call was made is all
 * that matters here. */
#include <mpi.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int rank, size, other, flag, number, result, length;
static MPI_Aint address, extent;
static MPI_Count large_count;
static MPI_Info info;
static MPI_Status status, statuses[2];
static MPI_Request request, requests[2];
static char text[1 << 16];
static const char *self, *scratch;

/* Callbacks call no function of MPI: what runs inside a call is that call's. */
static int copy_comm(MPI_Comm comm, int key, void *extra, void *in, void *out, int *copied) {
    *copied = 0;
    return MPI_SUCCESS;
}

static int delete_comm(MPI_Comm comm, int key, void *value, void *extra) { return MPI_SUCCESS; }

static void on_comm(MPI_Comm *comm, int *code, ...) {}
static void on_win(MPI_Win *win, int *code, ...) {}
static void on_file(MPI_File *file, int *code, ...) {}

static void add(void *in, void *inout, int *n, MPI_Datatype *type) {
    for (int i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
}
