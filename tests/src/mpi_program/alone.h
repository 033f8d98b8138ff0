/* What the calls that alone.rs writes stand on: one process that sends to itself, has a window
 * on its own memory, and a file of its own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 4096
#define COUNT 5           /* elements of two ints that a call allows */
#define THERE 3           /* elements that arrive, or that a file has */
#define SENT 0x11
#define NOBODY 0xEE
#define EXPOSED 0x33

static unsigned char buf[ROOM], other[ROOM], third[ROOM], *memory;
static MPI_Comm comm;
static MPI_Info info = MPI_INFO_NULL;
static MPI_Datatype datatype;
static MPI_Request request, partner;
static MPI_Message message;
static MPI_Status status;
static MPI_Win win;
static MPI_File fh;
static MPI_Op op = MPI_REPLACE;
static FILE *out;

static int changed(const unsigned char *bytes, int was) {
    int n = 0;
    for (int i = 0; i < ROOM; i++) n += bytes[i] != was;
    return n;
}

/* All memory is nobody's but what is to be sent. */
static void fill(int sends) {
    memset(buf, sends ? SENT : NOBODY, ROOM);
    memset(other, NOBODY, ROOM);
    memset(third, SENT, ROOM);
}

/* A window whose bytes are neither those of the origin nor those of a result; a comparison
 * with it succeeds. */
static void expose(void) {
    memset(memory, EXPOSED, ROOM);
    memset(third, EXPOSED, ROOM);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
}

/* Bytes of a file that is read by `fh`; at offset 0 of every pointer. */
static void refill(int elements) {
    unsigned char bytes[ROOM];
    memset(bytes, SENT, ROOM);
    MPI_File_set_size(fh, 0);
    MPI_File_write_at(fh, 0, bytes, elements, datatype, MPI_STATUS_IGNORE);
    MPI_File_seek(fh, 0, MPI_SEEK_SET);
    MPI_File_seek_shared(fh, 0, MPI_SEEK_SET);
}

/* The other end of a partitioned transfer of two partitions, and the transfer itself. */
#if MPI_VERSION >= 4
static void give_partitions(MPI_Request *sender, MPI_Request *receiver) {
    MPI_Start(receiver);
    MPI_Start(sender);
    MPI_Pready_range(0, 1, *sender);
    MPI_Wait(sender, MPI_STATUS_IGNORE);
    MPI_Wait(receiver, MPI_STATUS_IGNORE);
    MPI_Request_free(sender);
    MPI_Request_free(receiver);
}
#endif

static int told(void) {
    MPI_Count elements;
    MPI_Get_elements_x(&status, MPI_BYTE, &elements);
    return (int)elements;
}

static void finish(int persistent) {
    if (persistent) MPI_Start(&request);
    MPI_Wait(&request, &status);
    if (persistent) MPI_Request_free(&request);
}

/* Bytes that went out, bytes that came in, bytes of which the status tells. */
static void say(const char *name, int sent, int received) {
    fprintf(out, "%s %d %d %d\n", name, sent, received, told());
    fflush(out);
}

static int size_of_file(void) {
    MPI_Offset size;
    MPI_File_get_size(fh, &size);
    return (int)size;
}

static void start(int *argc, char ***argv) {
    static char attached[2 * ROOM];
    MPI_Init(argc, argv);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Type_contiguous(2, MPI_INT, &datatype);
    MPI_Type_commit(&datatype);
    MPI_Buffer_attach(attached, sizeof attached);
    MPI_Win_allocate(ROOM, 1, MPI_INFO_NULL, comm, &memory, &win);
    MPI_File_open(comm, (*argv)[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
    out = fopen((*argv)[2], "w");
    if (!out) MPI_Abort(MPI_COMM_WORLD, 2);
}

static int finalize(void) {
    fclose(out);
    MPI_File_close(&fh);
    MPI_Win_free(&win);
    MPI_Type_free(&datatype);
    MPI_Comm_free(&comm);
    return MPI_Finalize();
}
