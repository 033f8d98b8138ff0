/* topas: ranks=3 expect: lang=c lib=mpi end=exit:0
 *
 * Communicators with names: the longest is cut, one gets another name at the same address, and one
 * has no name. Each has an Allreduce with an amount of its own, by which events are found. */
#include <mpi.h>
#include <stdio.h>

static void sum(MPI_Comm comm, int count) {
    double in[8] = {0}, out[8];
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
}

int main(int argc, char **argv) {
    MPI_Comm comms[4];
    char name[64];
    int rank, i;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (i = 0; i < 4; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    snprintf(name, sizeof name, "first");
    MPI_Comm_set_name(comms[0], name);
    snprintf(name, sizeof name, "rows, <columns> and what is behind");
    MPI_Comm_set_name(comms[1], name);
    snprintf(name, sizeof name, "third");
    MPI_Comm_set_name(comms[2], name);
    snprintf(name, sizeof name, "third and last");
    MPI_Comm_set_name(comms[2], name);
    for (i = 0; i < 4; i++)
        sum(comms[i], i + 1);
    for (i = 0; i < 4; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return 0;
}
