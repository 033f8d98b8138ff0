// topas: flags="-O2 -pthread" expect: lang=c lib=mpi end=exit:0 stdout="threads joined"
//
// MPI_Init_thread, and a thread that works while the main thread waits.

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static void *work(void *sum)
{
    for (int i = 0; i < 1000000; i++)
        *(volatile double *)sum += 1;
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double sum = 0, all;
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, &sum) != 0 || pthread_join(thread, NULL) != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("threads joined, sum %.0f\n", all);
    MPI_Finalize();
    return 0;
}
