// topas: flags="-O2 -fopenmp" ranks=2 expect: lang=c lib=mpi end=exit:0
// topas: expect: stdout="pi is 3.14159265"
//
// MPI and OpenMP together: the area of a quarter of a circle, by the midpoint rule.

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const int points = 2000000;
    int rank, ranks, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double mine = 0, all;
#pragma omp parallel for reduction(+ : mine) num_threads(2)
    for (int i = rank; i < points; i += ranks) {
        double x = (i + 0.5) / points;
        mine += 4 / (1 + x * x) / points;
    }
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("pi is %.8f\n", all);
    MPI_Finalize();
    return 0;
}
