// Ways to end that need MPI or its launcher, and the choice of the rank that ends.

#define _GNU_SOURCE
#include "launched.h"
#include "ways.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_RANKS = 64, PATIENCE_MS = 20000 };

// Gone, or dead and not yet noticed by its launcher.
static int has_ended(int pid)
{
    char name[64], state = 'Z';
    snprintf(name, sizeof name, "/proc/%d/stat", pid);
    FILE *stat = fopen(name, "r");
    if (stat == NULL)
        return 1;
    int read = fscanf(stat, "%*d (%*[^)]) %c", &state);
    fclose(stat);
    return read != 1 || state == 'Z';
}

static void wait_for_end_of(int pid)
{
    for (int i = 0; i < PATIENCE_MS && !has_ended(pid); i++)
        usleep(1000);
}

int acts(const char *state, int acting_rank)
{
    int rank, ranks, own = getpid(), pids[MOST_RANKS];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > MOST_RANKS)
        MPI_Abort(MPI_COMM_WORLD, FAILED);
    MPI_Allgather(&own, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    if (strcmp(state, "within") == 0) {
        if (rank != acting_rank)
            wait_to_be_killed();
        // The others have left the collective call, as far as one can know.
        usleep(20000);
        return 1;
    }
    MPI_Finalize();
    if (rank != acting_rank)
        return 0;
    // A launcher kills what still runs when a rank fails.
    for (int i = 0; i < ranks; i++)
        if (i != rank)
            wait_for_end_of(pids[i]);
    return 1;
}

static int by_mpi_abort(int number)
{
    return MPI_Abort(MPI_COMM_WORLD, number);
}

// The default handler of MPI's errors ends the program.
static int by_mpi_error(int number)
{
    return MPI_Send(&number, 1, MPI_INT, -number - MOST_RANKS, 0, MPI_COMM_WORLD);
}

// The rank ends as it should, the others wait for ever: no MPI_Finalize.
static int by_no_finalize(int number)
{
    return number;
}

// A signal to the launcher, whose pid the environment tells.
static int by_launcher(int number)
{
    const char *pid = getenv("LAUNCHER");
    if (pid == NULL || kill(atoi(pid), number) != 0)
        return FAILED;
    return wait_to_be_killed();
}

const struct way launched_ways[] = {
    {"mpi_abort", by_mpi_abort},
    {"mpi_error", by_mpi_error},
    {"no_finalize", by_no_finalize},
    {"launcher", by_launcher},
    {NULL, NULL},
};
