/* Communicators, windows and files, some with names and some without: objects FILE. The calls on each of them have an
 * amount of their own, by which events are found. */
#include <mpi.h>

int main(int argc, char **argv) {
    double memory[16] = {0}, other[16] = {0}, data[16] = {0}, sums[16];
    MPI_Comm named, split;
    MPI_Win halo, plain;
    MPI_File file;
    int rank;
    if (argc < 2)
        return 64;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &named);
    MPI_Comm_set_name(named, "columns <of> the matrix, and \"all\"");
    MPI_Allreduce(data, sums, 1, MPI_DOUBLE, MPI_SUM, named);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &split);
    MPI_Allreduce(data, sums, 2, MPI_DOUBLE, MPI_SUM, split);
    MPI_Win_create(memory, sizeof memory, sizeof(double), MPI_INFO_NULL, named, &halo);
    MPI_Win_set_name(halo, "halo of the western boundary");
    MPI_Win_create(other, sizeof other, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &plain);
    MPI_Win_fence(0, halo);
    MPI_Win_fence(0, plain);
    MPI_Put(data, 3, MPI_DOUBLE, 0, 0, 3, MPI_DOUBLE, halo);
    MPI_Put(data, 4, MPI_DOUBLE, 0, 0, 4, MPI_DOUBLE, plain);
    MPI_Win_fence(0, halo);
    MPI_Win_fence(0, plain);
    MPI_Win_free(&plain);
    MPI_Win_free(&halo);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, rank * 128, data, 5, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_write_at_all(file, rank * 128, data, 6, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Comm_free(&split);
    MPI_Comm_free(&named);
    MPI_Finalize();
    return 0;
}
