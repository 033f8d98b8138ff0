/* Processes that are started, met by a port, or by a socket; sessions. */

static void spawned(void) {
    char *arguments[] = {"child", NULL}, **both[] = {arguments, arguments};
    char *commands[] = {(char *)self, (char *)self};
    int errors[2], processes[] = {1, 1};
    MPI_Info infos[] = {info, info};
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_disconnect(&comm);
    MPI_Comm_get_parent(&comm);
    /* Debian's MPICH starts nobody. */
    if (!MPI_Comm_spawn(self, arguments, 1, info, 0, MPI_COMM_WORLD, &comm, errors))
        MPI_Comm_disconnect(&comm);
    if (!MPI_Comm_spawn_multiple(
            2, commands, both, processes, infos, 0, MPI_COMM_WORLD, &comm, errors))
        MPI_Comm_disconnect(&comm);
}

/* What the first of both started for. */
static int child(void) {
    MPI_Comm parent;
    unsetenv("COUNTED");
    MPI_Init(NULL, NULL);
    MPI_Comm_get_parent(&parent);
    MPI_Comm_disconnect(&parent);
    return MPI_Finalize();
}

static void connected(void) {
    char port[MPI_MAX_PORT_NAME] = "none";
    MPI_Comm comm = MPI_COMM_NULL;
    if (rank == 0) {
        /* Debian's MPICH has no ports: to meet at none is refused. */
        int opened = MPI_Open_port(info, port) == MPI_SUCCESS;
        MPI_Send(port, sizeof port, MPI_CHAR, 1, 40, MPI_COMM_WORLD);
        MPI_Comm_accept(port, info, 0, MPI_COMM_SELF, &comm);
        /* Not everywhere is somebody who keeps names. */
        MPI_Publish_name("rest-of-calls", info, port);
        MPI_Lookup_name("rest-of-calls", info, text);
        MPI_Unpublish_name("rest-of-calls", info, port);
        if (opened) MPI_Close_port(port);
    } else {
        MPI_Recv(port, sizeof port, MPI_CHAR, 0, 40, MPI_COMM_WORLD, &status);
        MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &comm);
    }
    if (comm != MPI_COMM_NULL) MPI_Comm_disconnect(&comm);
}

static void joined(void) {
    struct sockaddr_in here = {.sin_family = AF_INET};
    socklen_t bytes = sizeof here;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    MPI_Comm comm;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (rank == 0) {
        if (bind(fd, (void *)&here, bytes) || listen(fd, 1)) abort();
        if (getsockname(fd, (void *)&here, &bytes)) abort();
        MPI_Send(&here, sizeof here, MPI_BYTE, 1, 41, MPI_COMM_WORLD);
        fd = accept(fd, NULL, NULL);
    } else {
        MPI_Recv(&here, sizeof here, MPI_BYTE, 0, 41, MPI_COMM_WORLD, &status);
        if (connect(fd, (void *)&here, bytes)) abort();
    }
    comm = MPI_COMM_NULL;
    MPI_Comm_join(fd, &comm);
    if (comm != MPI_COMM_NULL) MPI_Comm_disconnect(&comm);
    close(fd);
}

#if MPI_VERSION >= 4
static void on_session(MPI_Session *session, int *code, ...) {}

static void sessions(void) {
    MPI_Session session;
    MPI_Errhandler handler;
    MPI_Info used;
    MPI_Group group;
    MPI_Session_create_errhandler(on_session, &handler);
    MPI_Session_init(info, handler, &session);
    MPI_Session_set_errhandler(session, handler);
    MPI_Errhandler_free(&handler);
    MPI_Session_get_errhandler(session, &handler);
    MPI_Errhandler_free(&handler);
    MPI_Session_call_errhandler(session, MPI_ERR_OTHER);
    MPI_Session_get_info(session, &used);
    MPI_Info_free(&used);
    MPI_Session_get_num_psets(session, info, &number);
    length = sizeof text;
    MPI_Session_get_nth_pset(session, info, 0, &length, text);
    MPI_Session_get_pset_info(session, "mpi://WORLD", &used);
    MPI_Info_free(&used);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_free(&group);
    MPI_Session_f2c(MPI_Session_c2f(session));
    MPI_Session_finalize(&session);
}
#endif
