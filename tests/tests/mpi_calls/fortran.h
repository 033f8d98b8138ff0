/* What functions that call Fortran stand on. */
#include <mpi.h>
#include <string.h>
#include <ISO_Fortran_binding.h>

#define STATUS ((int)(sizeof(MPI_Status) / sizeof(MPI_Fint)))

#ifdef OPEN_MPI
extern int mpi_fortran_in_place_;
#define IN_PLACE ((void *)&mpi_fortran_in_place_)
#define NO_STATUS ((void *)MPI_F_STATUS_IGNORE)
#define NO_STATUSES ((void *)MPI_F_STATUSES_IGNORE)
#elif defined(F08)
extern int MPIR_F08_MPI_IN_PLACE;
#define IN_PLACE ((void *)&MPIR_F08_MPI_IN_PLACE)
#define NO_STATUS ((void *)MPI_F08_STATUS_IGNORE)
#define NO_STATUSES ((void *)MPI_F08_STATUSES_IGNORE)
#else
extern void *MPIR_F_MPI_IN_PLACE;
#define IN_PLACE MPIR_F_MPI_IN_PLACE
#define NO_STATUS ((void *)MPI_F_STATUS_IGNORE)
#define NO_STATUSES ((void *)MPI_F_STATUSES_IGNORE)
#endif

static inline void *addressed(const void *buffer) {
    return buffer == MPI_IN_PLACE ? IN_PLACE : (void *)buffer;
}

/* Any bytes at an address, in a row. */
static inline void *described(void *descriptor, const void *buffer) {
    static char nothing[8];
    CFI_index_t extent[1] = {1 << 20};
    void *address = buffer ? addressed(buffer) : nothing;
    CFI_establish(descriptor, address, CFI_attribute_other, CFI_type_int8_t, 1, 1, extent);
    return descriptor;
}
