/* objects DIRECTORY ROUNDS MICROSECONDS: known traffic through a window and a file with names, and
 * a window without; rank 0 comes late to each round of the first window. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int rank, ranks;
    long memory[8] = {0}, values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    char path[4096];
    MPI_Win buckets, plain;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &buckets);
    MPI_Win_set_name(buckets, "buckets");
    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &plain);
    for (int i = 0; i < atoi(argv[2]); i++) {
        if (rank == 0) usleep((useconds_t)atoi(argv[3]));
        MPI_Win_fence(0, buckets);
        MPI_Put(values, 4, MPI_LONG, (rank + 1) % ranks, 0, 4, MPI_LONG, buckets);
        MPI_Win_fence(0, buckets);
    }
    MPI_Win_fence(0, plain);
    MPI_Win_fence(0, plain);
    MPI_Win_free(&plain);
    MPI_Win_free(&buckets);
    snprintf(path, sizeof path, "%s/restart.bin", argv[1]);
    for (int round = 0; round < 2; round++) {
        MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof values, values, 8, MPI_LONG,
                              MPI_STATUS_IGNORE);
        MPI_File_sync(file);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_File_read_at(file, (rank + 1) % ranks * (MPI_Offset)sizeof values, values, 8, MPI_LONG,
                         MPI_STATUS_IGNORE);
        MPI_File_close(&file);
    }
    MPI_Finalize();
    return 0;
}
