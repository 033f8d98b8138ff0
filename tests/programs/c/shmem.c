// Each PE writes its number into its right neighbour's memory, by OpenSHMEM.

#include <shmem.h>
#include <stdio.h>

static long from_left = -1;

int main(void)
{
    shmem_init();
    long me = shmem_my_pe();
    int pes = shmem_n_pes();
    shmem_long_p(&from_left, me, (int)((me + 1) % pes));
    shmem_barrier_all();
    int right = from_left == (me + pes - 1) % pes;
    printf("PE %ld of %d: %s\n", me, pes, right ? "right" : "wrong");
    shmem_finalize();
    return right ? 0 : 1;
}
