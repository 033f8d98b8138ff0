// The functions of MPI that the benchmarks time, as a table: once as any program sees them,
// through whatever stands in front of the MPI, and once as the library of the MPI has them.
//
// The name of the profiling interface would not do for the latter: it may be wrapped, too.

#ifndef MPI_API_H
#define MPI_API_H

#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EACH_FUNCTION(X)                                                                          \
    X(Accumulate) X(Allreduce) X(Alltoallv) X(Barrier) X(Bcast) X(Comm_rank) X(File_write_at)    \
    X(Get_count) X(Iprobe) X(Irecv) X(Isend) X(Put) X(Recv) X(Send) X(Sendrecv) X(Start) X(Test) \
    X(Type_size) X(Wait) X(Waitall)

struct api {
#define MEMBER(name) __typeof__(&MPI_##name) name;
    EACH_FUNCTION(MEMBER)
#undef MEMBER
};

// As the program is linked.
static inline struct api seen_api(void)
{
    return (struct api){
#define MEMBER(name) .name = MPI_##name,
        EACH_FUNCTION(MEMBER)
#undef MEMBER
    };
}

static inline int is_mpi(struct dl_phdr_info *info, size_t size, void *found)
{
    (void)size;
    const char *base = strrchr(info->dlpi_name, '/');
    base = base ? base + 1 : info->dlpi_name;
    if (strncmp(base, "libmpi.so", 9) != 0 && strncmp(base, "libmpich.so", 11) != 0)
        return 0;
    *(const char **)found = info->dlpi_name;
    return 1;
}

// As the library of the MPI has them: a search from there meets nothing that was put in front.
static inline struct api bare_api(void)
{
    const char *path = NULL;
    dl_iterate_phdr(is_mpi, &path);
    void *library = path ? dlopen(path, RTLD_NOLOAD | RTLD_LAZY) : NULL;
    if (library == NULL) {
        fprintf(stderr, "the library of the MPI is not loaded\n");
        exit(1);
    }
    struct api api;
#define MEMBER(name)                                                                              \
    api.name = (__typeof__(api.name))dlsym(library, "MPI_" #name);                                \
    if (api.name == NULL) {                                                                       \
        fprintf(stderr, "%s has no MPI_" #name "\n", path);                                       \
        exit(1);                                                                                  \
    }
    EACH_FUNCTION(MEMBER)
#undef MEMBER
    return api;
}

#endif
