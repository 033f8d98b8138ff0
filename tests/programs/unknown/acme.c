/* The library of it. By options: OLD, without a name and without the profiling interface; or with a name
 * and both. It ends the program when it is given what is not its own. */

#include "mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct acme_comm {
    int magic;
};

struct acme_type {
    int size;
};

const struct acme_comm acme_world = {4711};
const struct acme_type acme_int = {sizeof(int)};

static int began, box[64], filled;

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "acme: %s\n", what);
    abort();
}

#ifdef OLD
#define DEFINE(name) MPI_##name
#else
#define DEFINE(name) PMPI_##name
#define BOTH(name, ...) \
    int MPI_##name(__VA_ARGS__) __attribute__((weak, alias("PMPI_" #name)));

int PMPI_Get_library_version(char *text, int *length)
{
    *length = sprintf(text, "Acme MPI 9.9");
    return MPI_SUCCESS;
}
BOTH(Get_library_version, char *, int *)
BOTH(Init, int *, char ***)
BOTH(Finalize, void)
BOTH(Comm_rank, MPI_Comm, int *)
BOTH(Comm_size, MPI_Comm, int *)
BOTH(Send, const void *, int, MPI_Datatype, int, int, MPI_Comm)
BOTH(Recv, void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *)
BOTH(Barrier, MPI_Comm)
BOTH(Frobnicate, int, MPI_Comm)
#endif

int DEFINE(Init)(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    check(!began++, "began twice");
    return MPI_SUCCESS;
}

int DEFINE(Finalize)(void)
{
    check(began++ == 1, "ended twice");
    return MPI_SUCCESS;
}

int DEFINE(Comm_rank)(MPI_Comm comm, int *rank)
{
    check(began == 1 && comm == MPI_COMM_WORLD, "a strange communicator");
    *rank = 0;
    return MPI_SUCCESS;
}

int DEFINE(Comm_size)(MPI_Comm comm, int *size)
{
    check(began == 1 && comm == MPI_COMM_WORLD, "a strange communicator");
    *size = 1;
    return MPI_SUCCESS;
}

int DEFINE(Send)(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    check(comm == MPI_COMM_WORLD && type == MPI_INT && to == 0 && tag > 0, "a strange send");
    memcpy(box, data, (size_t)(filled = count) * sizeof(int));
    return MPI_SUCCESS;
}

int DEFINE(Recv)(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                 MPI_Status *status)
{
    check(comm == MPI_COMM_WORLD && type == MPI_INT && from == 0 && tag > 0, "a strange receive");
    check(count >= filled, "a short receive");
    memcpy(data, box, (size_t)filled * sizeof(int));
    if (status != MPI_STATUS_IGNORE)
        *status = (MPI_Status){tag, from, 0, filled};
    return MPI_SUCCESS;
}

int DEFINE(Barrier)(MPI_Comm comm)
{
    check(comm == MPI_COMM_WORLD, "a strange communicator");
    return MPI_SUCCESS;
}

int DEFINE(Frobnicate)(int by, MPI_Comm comm)
{
    check(comm == MPI_COMM_WORLD, "a strange communicator");
    return by + 1;
}
