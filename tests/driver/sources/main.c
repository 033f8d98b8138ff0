#include <mpi.h>
#include <stdio.h>

int main(void)
{
    int version = 0, subversion = 0;
    MPI_Get_version(&version, &subversion);
    printf("answer %d\n", version > 0 ? 42 : 0);
    return 0;
}
