/* States with names, nested, and more ends than begins. states */
#include "topas.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    topas_begin("outer");
    for (int i = 0; i < 3; i++) {
        topas_begin("a name that is longer than what is kept");
        MPI_Barrier(MPI_COMM_WORLD);
        topas_end();
    }
    topas_end();
    topas_end();
    MPI_Pcontrol(1);
    MPI_Finalize();
    return 0;
}
