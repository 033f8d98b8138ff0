/* States of a program in the event log of its MPI calls (topas-run --mpi=log):

     topas_begin("solve");
     ...
     topas_end();

   Each is a call of MPI_Pcontrol with a level that MPI leaves to tools. So a program needs nothing but
   its MPI to link, statically or not, and without a log these do nothing. They may be nested, and are
   for the time between MPI_Init and MPI_Finalize. Of a name the first 24 bytes are kept. */
#ifndef TOPAS_H
#define TOPAS_H

#include <mpi.h>

static inline void topas_begin(const char *name)
{
    (void)MPI_Pcontrol(0x746f7001, name);
}

static inline void topas_end(void)
{
    (void)MPI_Pcontrol(0x746f7002, (const char *)0);
}

#endif
