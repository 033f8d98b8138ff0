/* One-sided communication. Each process works on a region of its own of every window. */

static void one_sided(void) {
    struct comm *k = any_intra();
    int how = (int)pick(4), kind = (int)pick(2), acts = 1 + (int)pick(4);
    unsigned char *memory;
    MPI_Win win;
    MPI_Group group;
    MPI_Request request;
    long size = ROOM * k->n;
    if (kind == 0) {
        MPI_Win_allocate(size, 1, MPI_INFO_NULL, k->c, &memory, &win);
    } else {
        MPI_Alloc_mem(size, MPI_INFO_NULL, &memory);
        MPI_Win_create(memory, size, 1, MPI_INFO_NULL, k->c, &win);
    }
    memset(memory, 1, (size_t)size);
    MPI_Barrier(k->c);
    MPI_Comm_group(k->c, &group);
    /* Of the passive kinds one target at a time, or all. */
    int target = (int)mine((unsigned)k->n);
    switch (how) {
    case 0: MPI_Win_fence(0, win); break;
    case 1: MPI_Win_post(group, 0, win); MPI_Win_start(group, 0, win); break;
    case 2: MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win); break;
    default: MPI_Win_lock_all(0, win);
    }
    for (int i = 0; i < acts; i++) {
        const struct type *type = &types[mine(TYPES)], *number;
        struct type copy;
        do copy = predefined(mine(1000));
        while (!copy.reducible || copy.size > 8);
        number = &copy;
        int count = (int)mine(10), none = mine(8) == 0, numbers = (int)mine(100);
        int to = how == 2 ? target : (int)mine((unsigned)k->n);
        int peer = none ? NOBODY : k->here[to];
        MPI_Aint at = ROOM * k->rank;
        long bytes = count * type->size, amount = numbers * number->size;
        if (none) to = MPI_PROC_NULL;
        /* With requests in passive epochs only. */
        int requests = how >= 2 && mine(2), no_op = mine(3) == 0;
        MPI_Op op = no_op ? MPI_NO_OP : MPI_SUM;
#define PUT(name, n) if (!none) SENT(name, (struct comm *)NULL, n, peer)
#define GOT(name, n) if (!none) RECEIVED(name, (struct comm *)NULL, n, peer)
        switch (mine(6)) {
        case 0:
            if (requests) {
                MPI_Rput(out, count, type->t, to, at, count, type->t, win, &request);
                PUT(MPI_Rput, bytes);
                complete(&request, 1);
            } else {
                MPI_Put(out, count, type->t, to, at, count, type->t, win);
                PUT(MPI_Put, bytes);
            }
            break;
        case 1:
            if (requests) {
                MPI_Rget(in + i * ROOM, count, type->t, to, at, count, type->t, win, &request);
                GOT(MPI_Rget, bytes);
                complete(&request, 1);
            } else {
                MPI_Get(in + i * ROOM, count, type->t, to, at, count, type->t, win);
                GOT(MPI_Get, bytes);
            }
            break;
        case 2:
            if (requests) {
                MPI_Raccumulate(out, numbers, number->t, to, at, numbers, number->t, MPI_SUM, win,
                                &request);
                PUT(MPI_Raccumulate, amount);
                complete(&request, 1);
            } else {
                MPI_Accumulate(out, numbers, number->t, to, at, numbers, number->t, MPI_SUM, win);
                PUT(MPI_Accumulate, amount);
            }
            break;
        case 3:
            if (requests) {
                MPI_Rget_accumulate(no_op ? NULL : out, no_op ? 0 : numbers, number->t,
                                    in + i * ROOM, numbers, number->t, to, at, numbers, number->t,
                                    op, win, &request);
                if (!no_op) PUT(MPI_Rget_accumulate, amount);
                GOT(MPI_Rget_accumulate, amount);
                complete(&request, 1);
            } else {
                MPI_Get_accumulate(no_op ? NULL : out, no_op ? 0 : numbers, number->t,
                                   in + i * ROOM, numbers, number->t, to, at, numbers, number->t,
                                   op, win);
                if (!no_op) PUT(MPI_Get_accumulate, amount);
                GOT(MPI_Get_accumulate, amount);
            }
            break;
        case 4:
            MPI_Fetch_and_op(no_op ? NULL : out, in + i * ROOM, MPI_INT, to, at, op, win);
            if (!no_op) PUT(MPI_Fetch_and_op, (long)sizeof(int));
            GOT(MPI_Fetch_and_op, (long)sizeof(int));
            break;
        default:
            MPI_Compare_and_swap(out, out + 64, in + i * ROOM, MPI_LONG, to, at, win);
            PUT(MPI_Compare_and_swap, (long)sizeof(long));
            PUT(MPI_Compare_and_swap, (long)sizeof(long));
            GOT(MPI_Compare_and_swap, (long)sizeof(long));
        }
        if (how == 2) MPI_Win_flush(target, win);
        if (how == 3) MPI_Win_flush_all(win);
    }
    switch (how) {
    case 0: MPI_Win_fence(0, win); break;
    case 1: MPI_Win_complete(win); MPI_Win_wait(win); break;
    case 2: MPI_Win_unlock(target, win); break;
    default: MPI_Win_unlock_all(win);
    }
    MPI_Group_free(&group);
    MPI_Win_free(&win);
    if (kind) MPI_Free_mem(memory);
}
