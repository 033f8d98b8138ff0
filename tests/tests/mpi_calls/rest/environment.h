/* Environment, errors, info, handles between languages. */

static void environment(void) {
    int version, subversion;
    void *memory;
    MPI_Initialized(&flag);
    MPI_Finalized(&flag);
    MPI_Query_thread(&number);
    MPI_Is_thread_main(&flag);
    MPI_Get_version(&version, &subversion);
    MPI_Get_library_version(text, &length);
    MPI_Get_processor_name(text, &length);
    MPI_Alloc_mem(64, info, &memory);
    MPI_Free_mem(memory);
    double seconds = MPI_Wtime() + MPI_Wtick();
    MPI_Pcontrol(1);
}

static void errors(void) {
    int class, code;
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(on_comm, &handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    MPI_Errhandler_free(&handler);

    MPI_Win win;
    MPI_Win_create(&class, sizeof class, 1, info, MPI_COMM_WORLD, &win);
    MPI_Win_create_errhandler(on_win, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Errhandler_free(&handler);
    MPI_Win_get_errhandler(win, &handler);
    MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
    MPI_Errhandler_free(&handler);
    MPI_Win_free(&win);

    /* No file stands for the handler of files to come. */
    MPI_File_create_errhandler(on_file, &handler);
    MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    MPI_Errhandler_free(&handler);
    MPI_File_get_errhandler(MPI_FILE_NULL, &handler);
    MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_OTHER);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);

    MPI_Error_string(MPI_ERR_OTHER, text, &length);
    MPI_Error_class(MPI_ERR_OTHER, &class);
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "ours");
}

static void hints(int argc, char **argv) {
    MPI_Info one, two;
    char value[64], key[MPI_MAX_INFO_KEY + 1];
    int room = sizeof value;
    MPI_Info_create(&one);
    MPI_Info_set(one, "key", "value");
    MPI_Info_dup(one, &two);
    MPI_Info_get(one, "key", sizeof value - 1, value, &flag);
    MPI_Info_get_valuelen(one, "key", &length, &flag);
    MPI_Info_get_nkeys(one, &number);
    MPI_Info_get_nthkey(one, 0, key);
    MPI_Info_delete(one, "key");
    MPI_Info_free(&one);
#if MPI_VERSION >= 4
    MPI_Info_get_string(two, "key", &room, value, &flag);
    MPI_Info_create_env(argc, argv, &one);
    MPI_Info_free(&one);
#endif
    MPI_Info_free(&two);
}

/* Handles of which some MPIs make macros, which do not count. */
static void conversions(void) {
    MPI_Comm comm = MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD));
    MPI_Errhandler handler = MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_RETURN));
    MPI_File file = MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL));
    MPI_Group group = MPI_Group_f2c(MPI_Group_c2f(MPI_GROUP_EMPTY));
    MPI_Info nothing = MPI_Info_f2c(MPI_Info_c2f(MPI_INFO_NULL));
    MPI_Message message = MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NULL));
    MPI_Op op = MPI_Op_f2c(MPI_Op_c2f(MPI_SUM));
    MPI_Request none = MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL));
    MPI_Datatype type = MPI_Type_f2c(MPI_Type_c2f(MPI_INT));
    MPI_Win win = MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL));
    MPI_Fint fortran[64];
    MPI_Status of_c;
    memset(&of_c, 0, sizeof of_c);
    MPI_Status_c2f(&of_c, fortran);
    MPI_Status_f2c(fortran, &of_c);
}
