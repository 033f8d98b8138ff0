/* Windows and files, all but their data. */

static void windows(void) {
    int memory[8], unit;
    void *base;
    MPI_Win win;
    MPI_Group world, peer;
    MPI_Info used;
    MPI_Win_allocate(64, 1, info, MPI_COMM_WORLD, &base, &win);
    MPI_Win_get_group(win, &world);
    MPI_Group_incl(world, 1, &other, &peer);
    MPI_Win_set_info(win, info);
    MPI_Win_get_info(win, &used);
    MPI_Info_free(&used);
    MPI_Win_fence(0, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int test = 0; test < 2; test++) {
        MPI_Win_post(peer, 0, win);
        MPI_Win_start(peer, 0, win);
        MPI_Win_complete(win);
        if (test)
            for (flag = 0; !flag;) MPI_Win_test(win, &flag);
        else
            MPI_Win_wait(win);
    }
    MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win);
    MPI_Win_flush(other, win);
    MPI_Win_flush_local(other, win);
    MPI_Win_unlock(other, win);
    MPI_Win_lock_all(0, win);
    MPI_Win_flush_all(win);
    MPI_Win_flush_local_all(win);
    MPI_Win_sync(win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Group_free(&peer);
    MPI_Group_free(&world);

    MPI_Win_create(memory, sizeof memory, 1, info, MPI_COMM_WORLD, &win);
    MPI_Win_free(&win);
    MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, memory, sizeof memory);
    MPI_Win_detach(win, memory);
    MPI_Win_free(&win);
    MPI_Win_allocate_shared(64, 1, info, MPI_COMM_WORLD, &base, &win);
    MPI_Win_shared_query(win, other, &extent, &unit, &base);
#if MPI_VERSION >= 4
    MPI_Aint bytes;
    MPI_Win_shared_query_c(win, other, &bytes, &extent, &base);
    MPI_Win_free(&win);
    MPI_Win_allocate_shared_c(64, 1, info, MPI_COMM_WORLD, &base, &win);
    MPI_Win_free(&win);
    MPI_Win_allocate_c(64, 1, info, MPI_COMM_WORLD, &base, &win);
    MPI_Win_free(&win);
    MPI_Win_create_c(memory, sizeof memory, 1, info, MPI_COMM_WORLD, &win);
#endif
    MPI_Win_free(&win);
}

static int file_extent(MPI_Datatype type, MPI_Aint *bytes, void *extra) {
    *bytes = 4;
    return MPI_SUCCESS;
}

#if MPI_VERSION >= 4
static int file_extent_large(MPI_Datatype type, MPI_Count *bytes, void *extra) { return 0; }
#endif

static void files(void) {
    MPI_File file;
    MPI_Offset offset;
    MPI_Group group;
    MPI_Datatype etype, filetype;
    MPI_Info used;
    char path[4096], datarep[MPI_MAX_DATAREP_STRING + 1];
    snprintf(path, sizeof path, "%s.file", scratch);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
    MPI_File_set_size(file, 64);
    MPI_File_preallocate(file, 128);
    MPI_File_get_size(file, &offset);
    MPI_File_get_group(file, &group);
    MPI_Group_free(&group);
    MPI_File_get_amode(file, &number);
    MPI_File_set_info(file, info);
    MPI_File_get_info(file, &used);
    MPI_Info_free(&used);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", info);
    MPI_File_get_view(file, &offset, &etype, &filetype, datarep);
    MPI_File_seek(file, 8, MPI_SEEK_SET);
    MPI_File_get_position(file, &offset);
    MPI_File_get_byte_offset(file, 8, &offset);
    MPI_File_seek_shared(file, 8, MPI_SEEK_SET);
    MPI_File_get_position_shared(file, &offset);
    MPI_File_get_type_extent(file, MPI_INT, &extent);
    MPI_File_set_atomicity(file, 0);
    MPI_File_get_atomicity(file, &flag);
    MPI_File_sync(file);
    MPI_Register_datarep(
        "ours", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, file_extent, NULL);
#if MPI_VERSION >= 4
    MPI_File_get_type_extent_c(file, MPI_INT, &large_count);
    MPI_Register_datarep_c(
        "large", MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C, file_extent, NULL);
#endif
    MPI_File_close(&file);
    if (rank == 0) MPI_File_delete(path, info);
}
