// OpenSHMEM alone; in Open MPI it is built on MPI.

#include <shmem.h>

int main(void)
{
    shmem_init();
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
