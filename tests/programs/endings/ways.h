// The ways to end that C, C++ and Fortran programs share.

#ifndef WAYS_H
#define WAYS_H

#ifdef __cplusplus
extern "C" {
#endif

// Ends the process in the way of this name, with this number where the way has one.
// Returns what main shall return where the way is to return from it; UNKNOWN, or FAILED
// where the way did not work.
int end_by(const char *way, int number);

enum { UNKNOWN = 100, FAILED = 101 };

typedef int way_function(int number);

struct way {
    const char *name;
    way_function *function;
};

// The ways of each file; a null name ends them.
extern const struct way plain_ways[], signal_ways[], handler_ways[], child_ways[];
extern const struct way launched_ways[] __attribute__((weak));

// Sleeps until a signal comes, or ends with FAILED after a while.
int wait_to_be_killed(void);

// Faults at address zero.
int by_segv(int number);

int by_exit(int number);
int by_abort(int number);
int by_raise(int number);

#ifdef __cplusplus
}
#endif

#endif
