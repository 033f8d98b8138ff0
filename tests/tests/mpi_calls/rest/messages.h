/* Requests, statuses, probes, buffers, partitions, barriers; messages are empty. */

static void post(int tag) {
    MPI_Irecv(NULL, 0, MPI_INT, other, tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(NULL, 0, MPI_INT, other, tag, MPI_COMM_WORLD, &requests[1]);
}

static int query(void *extra, MPI_Status *of) {
    /* What the standard asks of a status; the program sets it outside. */
    *of = *(MPI_Status *)extra;
    return MPI_SUCCESS;
}

static int nothing(void *extra) { return MPI_SUCCESS; }
static int cancel(void *extra, int complete) { return MPI_SUCCESS; }

static void completion(void) {
    int indices[2], n;
    post(1), MPI_Wait(&requests[0], &status), MPI_Wait(&requests[1], &status);
    post(2), MPI_Waitall(2, requests, statuses);
    post(3), MPI_Waitany(2, requests, &number, &status), MPI_Waitall(2, requests, statuses);
    post(4), MPI_Waitsome(2, requests, &n, indices, statuses), MPI_Waitall(2, requests, statuses);
    for (int i = 0; i < 2; i++) {
        post(5 + i);
        for (flag = 0; !flag;) MPI_Request_get_status(requests[0], &flag, &status);
        for (flag = 0; !flag;) MPI_Test(&requests[0], &flag, &status);
        for (flag = 0; !flag;) MPI_Testall(2, requests, &flag, statuses);
    }
    for (post(8), number = 0; number != MPI_UNDEFINED;)
        MPI_Testany(2, requests, &number, &flag, &status), number = flag ? number : 0;
    for (post(9), n = 0; n != MPI_UNDEFINED;) MPI_Testsome(2, requests, &n, indices, statuses);

    MPI_Send_init(NULL, 0, MPI_INT, other, 10, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(NULL, 0, MPI_INT, other, 10, MPI_COMM_WORLD, &requests[1]);
    MPI_Start(&requests[0]);
    MPI_Start(&requests[1]);
    MPI_Waitall(2, requests, statuses);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, statuses);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);

    MPI_Irecv(NULL, 0, MPI_INT, other, 11, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
}

/* Here, as MPICH 4.0.2 cannot send to itself so. */
static void exchanges(void) {
#if MPI_VERSION >= 4
    MPI_Isendrecv(NULL, 0, MPI_INT, other, 12, NULL, 0, MPI_INT, other, 12, MPI_COMM_WORLD,
                  &requests[0]);
    MPI_Isendrecv_replace(NULL, 0, MPI_INT, other, 13, other, 13, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    MPI_Isendrecv_c(NULL, 0, MPI_INT, other, 14, NULL, 0, MPI_INT, other, 14, MPI_COMM_WORLD,
                    &requests[0]);
    MPI_Isendrecv_replace_c(NULL, 0, MPI_INT, other, 15, other, 15, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
#endif
}

static void of_status(void) {
    memset(&status, 0, sizeof status);
    MPI_Status_set_elements(&status, MPI_INT, 3);
    MPI_Status_set_elements_x(&status, MPI_INT, 3);
    MPI_Status_set_cancelled(&status, 0);
    MPI_Get_count(&status, MPI_INT, &number);
    MPI_Get_elements(&status, MPI_INT, &number);
    MPI_Get_elements_x(&status, MPI_INT, &large_count);
#if MPI_VERSION >= 4
    MPI_Get_count_c(&status, MPI_INT, &large_count);
    MPI_Get_elements_c(&status, MPI_INT, &large_count);
#endif
    MPI_Grequest_start(query, nothing, cancel, &status, &request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void probes(void) {
    MPI_Message message;
    for (int tag = 20; tag < 24; tag++) {
        MPI_Isend(NULL, 0, MPI_INT, other, tag, MPI_COMM_WORLD, &request);
        if (tag == 20) MPI_Probe(other, tag, MPI_COMM_WORLD, &status);
        for (flag = 0; tag == 21 && !flag;)
            MPI_Iprobe(other, tag, MPI_COMM_WORLD, &flag, &status);
        if (tag == 22) MPI_Mprobe(other, tag, MPI_COMM_WORLD, &message, &status);
        for (flag = 0; tag == 23 && !flag;)
            MPI_Improbe(other, tag, MPI_COMM_WORLD, &flag, &message, &status);
        if (tag < 22)
            MPI_Recv(NULL, 0, MPI_INT, other, tag, MPI_COMM_WORLD, &status);
        else
            MPI_Mrecv(NULL, 0, MPI_INT, &message, &status);
        MPI_Wait(&request, &status);
    }
}

static void buffers_and_barriers(void) {
    void *buffer;
    MPI_Buffer_attach(text, sizeof text);
    MPI_Buffer_detach(&buffer, &number);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
#if MPI_VERSION >= 4
    MPI_Buffer_attach_c(text, sizeof text);
    MPI_Buffer_detach_c(&buffer, &large_count);
    MPI_Barrier_init(MPI_COMM_WORLD, info, &request);
    MPI_Start(&request);
    MPI_Wait(&request, &status);
    MPI_Request_free(&request);
#endif
}

static void partitions(void) {
#if MPI_VERSION >= 4
    int in[4], out[4] = {1, 2, 3, 4}, list[] = {3};
    MPI_Precv_init(in, 4, 1, MPI_INT, other, 30, MPI_COMM_WORLD, info, &requests[0]);
    MPI_Psend_init(out, 4, 1, MPI_INT, other, 30, MPI_COMM_WORLD, info, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Pready(0, requests[1]);
    MPI_Pready_range(1, 2, requests[1]);
    MPI_Pready_list(1, list, requests[1]);
    for (flag = 0; !flag;) MPI_Parrived(requests[0], 3, &flag);
    MPI_Waitall(2, requests, statuses);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
#endif
}
