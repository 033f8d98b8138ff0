// The functions of MPI that the benchmarks time, as a table: once as any program sees them,
// through whatever stands in front of the MPI, and once as the library of the MPI has them.
//
// The name of the profiling interface would not do for the latter: it may be wrapped, too.

#ifndef MPI_API_H
#define MPI_API_H

#define _GNU_SOURCE
#include <link.h>
#include <mpi.h>
#include <stdint.h>
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

// A loaded object, and what is found in its own table of symbols.
struct object {
    ElfW(Addr) base;
    const ElfW(Sym) *symbols;
    const char *names;
    // The table of hashes in GNU's form
    const uint32_t *hashes;
};

static inline int is_mpi(struct dl_phdr_info *info, size_t size, void *found)
{
    (void)size;
    const char *base = strrchr(info->dlpi_name, '/');
    base = base ? base + 1 : info->dlpi_name;
    if (strncmp(base, "libmpi.so", 9) != 0 && strncmp(base, "libmpich.so", 11) != 0)
        return 0;
    struct object *object = found;
    object->base = info->dlpi_addr;
    for (int at = 0; at < info->dlpi_phnum; at++) {
        if (info->dlpi_phdr[at].p_type != PT_DYNAMIC)
            continue;
        const ElfW(Dyn) *entry = (const void *)(info->dlpi_addr + info->dlpi_phdr[at].p_vaddr);
        // The loader of glibc has put addresses in place of offsets.
        for (; entry->d_tag != DT_NULL; entry++) {
            const void *place = (const void *)entry->d_un.d_ptr;
            if (entry->d_tag == DT_SYMTAB)
                object->symbols = place;
            else if (entry->d_tag == DT_STRTAB)
                object->names = place;
            else if (entry->d_tag == DT_GNU_HASH)
                object->hashes = place;
        }
    }
    return 1;
}

// The address of a function that an object defines; NULL if there is none. By hand, because
// whatever stands in front of the MPI may answer for the loader, too.
static inline void *defined_in(const struct object *object, const char *name)
{
    uint32_t hash = 5381;
    for (const char *byte = name; *byte; byte++)
        hash = hash * 33 + (unsigned char)*byte;
    const uint32_t buckets = object->hashes[0], first = object->hashes[1];
    const uint32_t *bucket =
        object->hashes + 4 + object->hashes[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chain = bucket + buckets;
    for (uint32_t at = bucket[hash % buckets]; at >= first && at != 0; at++) {
        const ElfW(Sym) *symbol = &object->symbols[at];
        if ((chain[at - first] | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
            strcmp(object->names + symbol->st_name, name) == 0)
            return (void *)(object->base + symbol->st_value);
        if (chain[at - first] & 1)
            break;
    }
    return NULL;
}

// As the library of the MPI has them.
static inline struct api bare_api(void)
{
    struct object library = {0};
    dl_iterate_phdr(is_mpi, &library);
    if (!library.symbols || !library.names || !library.hashes) {
        fprintf(stderr, "the library of the MPI is not loaded\n");
        exit(1);
    }
    struct api api;
#define MEMBER(name)                                                                              \
    api.name = (__typeof__(api.name))defined_in(&library, "MPI_" #name);                          \
    if (api.name == NULL) {                                                                       \
        fprintf(stderr, "the library of the MPI has no MPI_" #name "\n");                         \
        exit(1);                                                                                  \
    }
    EACH_FUNCTION(MEMBER)
#undef MEMBER
    return api;
}

#endif
