// What the programs of this directory share. They are written anew from the descriptions of the
// Grindstone suite of Hollingsworth and Steel in Mohror's thesis, Tables 14 and 15.
//
// Procedures waste time until a moment on the clock has come, not a number of instructions: so
// shares of time are the same on a machine that others use, too.

#ifndef GRINDSTONE_H
#define GRINDSTONE_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Seconds on the clock that MPI does not count.
static inline double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Computes for that long.
static inline double waste_time(double seconds)
{
    double sum = 0;
    for (double end = now() + seconds; now() < end;)
        for (int i = 1; i < 500; i++)
            sum += 1.0 / i;
    return sum;
}

// An argument of the program.
static inline int argument(int count, char **values, int index, int otherwise)
{
    return count > index ? atoi(values[index]) : otherwise;
}

// The same on all ranks: a linear congruential generator.
static inline int random_below(unsigned *state, int limit)
{
    *state = *state * 1664525u + 1013904223u;
    return (int)((*state >> 16) % (unsigned)limit);
}

#endif
