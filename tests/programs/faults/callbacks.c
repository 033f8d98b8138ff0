// Functions of the user's that MPI calls, and that call MPI themselves, return from it by longjmp, or
// run at the end of MPI. Every call that stands in main() counts, none of those within others.
//
// profile: ranks=2
// profile: Op_create@all calls=1
// profile: Allreduce@all calls=1
// profile: Barrier@all calls=2
// profile: Comm_create_keyval@all calls=1
// profile: Comm_set_attr@all calls=2
// profile: Comm_dup@all calls=2
// profile: Comm_free@all calls=2
// profile: Comm_create_errhandler@all calls=1
// profile: Comm_set_errhandler@all calls=2
// profile: Send@all calls=103 sends=100 sent=400
// profile: Recv@all calls=100 receives=100 received=400
// profile: Type_size@all calls=0
// profile: Comm_rank@all calls=1
// profile: Grequest_start@all calls=1
// profile: Grequest_complete@all calls=1
// profile: Wait@all calls=1
// profile: Finalize@all calls=1

#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static int reductions, copies, deletions, errors, queries, rank, keyval, at_end;
static jmp_buf back;

// A reduction that asks for the size of its datatype.
static void adds(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int size;
    MPI_Type_size(*type, &size);
    for (int i = 0; i < *count && size == 4; i++)
        ((int *)inout)[i] += ((int *)in)[i];
    reductions++;
}

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    int own;
    (void)key, (void)extra;
    MPI_Comm_rank(comm, &own);
    copies += own == rank;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

// On MPI_COMM_SELF this runs inside MPI_Finalize, where MPI still works.
static int delete(MPI_Comm comm, int key, void *value, void *extra)
{
    int own, ended = 1;
    (void)key, (void)extra, (void)value;
    MPI_Comm_rank(comm, &own);
    MPI_Finalized(&ended);
    deletions++;
    if (at_end && !ended) {
        int key = keyval;
        MPI_Comm_free_keyval(&key);
        printf("deleted at the end, %d deletions\n", deletions);
        fflush(stdout);
    }
    return MPI_SUCCESS;
}

static void error(MPI_Comm *comm, int *code, ...)
{
    int own, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm_rank(*comm, &own);
    MPI_Error_string(*code, text, &length);
    errors++;
    if (errors > 1)
        longjmp(back, errors);
}

static int query(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_INT, 1);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    queries++;
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static void wrong_send(void)
{
    int none = 0;
    // A tag that no message can have.
    MPI_Send(&none, 1, MPI_INT, 0, -4711, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int value, sum = 0;
    MPI_Op op;
    MPI_Comm first, second;
    MPI_Errhandler handler;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    MPI_Op_create(adds, 1, &op);
    value = rank + 1;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);

    MPI_Comm_create_keyval(copy, delete, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &value);
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_set_attr(first, keyval, &value);
    MPI_Comm_dup(first, &second);
    MPI_Comm_free(&second);
    MPI_Comm_free(&first);

    MPI_Comm_create_errhandler(error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    // The first returns, the others leave MPI by longjmp.
    wrong_send();
    volatile int jumps = 0;
    if (setjmp(back) != 0)
        jumps++;
    if (jumps < 2)
        wrong_send();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    // Calls after the jumps count as those before.
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 100; i++)
        if (rank == 0) {
            MPI_Send(&i, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }

    MPI_Grequest_start(query, release, cancel, NULL, &request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d: sum %d, reduced %d, copies %d, deletions %d, errors %d, jumps %d, queries %d\n", rank,
           sum, reductions > 0, copies, deletions, errors, jumps, queries);
    fflush(stdout);
    at_end = 1;
    MPI_Finalize();
    return 0;
}
