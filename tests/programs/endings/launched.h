// What programs do under a launcher before they end.

#ifndef LAUNCHED_H
#define LAUNCHED_H

#ifdef __cplusplus
extern "C" {
#endif

// After MPI_Init: whether this rank is the one that ends in the way of its arguments.
// `within`: the others wait, with MPI as it is, for what the launcher does to them, and do
// not come back. `after`: all finalize MPI, the others end, and then this rank comes back.
int acts(const char *state, int acting_rank);

#ifdef __cplusplus
}
#endif

#endif
