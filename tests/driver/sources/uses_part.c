#include <mpi.h>
#include <stdio.h>

int part(void);

int main(void)
{
    int version = 0, subversion = 0;
    MPI_Get_version(&version, &subversion);
    printf("answer %d\n", version > 0 ? part() : 0);
    return 0;
}
