// Threads that call MPI at once, and hundreds that come and go.
//
// profile: ranks=2
// profile: Init_thread@all calls=1
// profile: Comm_dup@all calls=8
// profile: Allreduce@all calls=400000 count=400000
// profile: Send@all calls=1200 sends=1200 sent=4800
// profile: Recv@all calls=1200 receives=1200 received=4800
// profile: Comm_rank@all calls=401
// profile: Comm_free@all calls=8
// profile: Finalize@all calls=1

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { AT_ONCE = 4, REDUCTIONS = 100000, ROUNDS = 100, MESSAGES = 3 };

static MPI_Comm comms[AT_ONCE], selves[AT_ONCE];
static int rank;

static void *reduces(void *comm)
{
    int value = 1, sum = 0;
    for (int i = 0; i < REDUCTIONS; i++) {
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, *(MPI_Comm *)comm);
        if (sum != 1)
            abort();
    }
    return NULL;
}

static void *short_lived(void *comm)
{
    int own, value = 0;
    MPI_Comm_rank(*(MPI_Comm *)comm, &own);
    for (int i = 0; i < MESSAGES; i++)
        if (own == 0) {
            MPI_Send(&i, 1, MPI_INT, 1, 1, *(MPI_Comm *)comm);
            MPI_Recv(&value, 1, MPI_INT, 1, 1, *(MPI_Comm *)comm, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&value, 1, MPI_INT, 0, 1, *(MPI_Comm *)comm, MPI_STATUS_IGNORE);
            MPI_Send(&i, 1, MPI_INT, 0, 1, *(MPI_Comm *)comm);
        }
    return NULL;
}

static void at_once(void *(*does)(void *), MPI_Comm *comms)
{
    pthread_t threads[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++)
        if (pthread_create(&threads[i], NULL, does, &comms[i]) != 0)
            abort();
    for (int i = 0; i < AT_ONCE; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) {
        puts("no threads");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < AT_ONCE; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < AT_ONCE; i++)
        MPI_Comm_dup(MPI_COMM_SELF, &selves[i]);
    at_once(reduces, selves);
    for (int i = 0; i < ROUNDS; i++)
        at_once(short_lived, comms);
    for (int i = 0; i < AT_ONCE; i++)
        MPI_Comm_free(&comms[i]);
    for (int i = 0; i < AT_ONCE; i++)
        MPI_Comm_free(&selves[i]);
    MPI_Finalize();
    puts("good");
    return 0;
}
