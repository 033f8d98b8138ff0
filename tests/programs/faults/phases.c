// Calls before the beginning of MPI and after its end, and a second MPI_Init.
//
// profile: ranks=2
// profile: Init@all calls=1
// profile: Initialized@all calls=3
// profile: Finalized@all calls=2
// profile: Get_version@all calls=2
// profile: Get_library_version@all calls=1
// profile: Barrier@all calls=1
// profile: Finalize@all calls=1

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int before, early, after, late, version, subversion, length, still;
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Initialized(&before);
    MPI_Finalized(&early);
    MPI_Get_version(&version, &subversion);
    MPI_Get_library_version(text, &length);
    MPI_Initialized(&still);
    MPI_Init(&argc, &argv);
    MPI_Get_version(&version, &subversion);
    MPI_Initialized(&after);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalized(&late);
    MPI_Finalize();
    int over, ended;
    MPI_Finalized(&over);
    MPI_Initialized(&ended);
    MPI_Get_version(&version, &subversion);
    printf("%d %d %d %d %d %d %d %d %d\n", before, early, still, after, late, over, ended, version,
           length > 0);
    return 0;
}
