/* Files. Each process works on its own part, or in turn at the shared pointer. */

#define WROTE(name, n) SENT(name, (struct comm *)NULL, n, NOBODY)
#define READ(name, n) RECEIVED(name, (struct comm *)NULL, n, NOBODY)
#define ARGUMENTS in, count, type->t
#define MANY 5

/* The five ways to write at a place and those to write where a pointer is. */
#define TRANSFER(KIND, did, at, ...)                                               \
    switch (way) {                                                                 \
    case 0:                                                                        \
        MPI_File_##KIND##at(__VA_ARGS__, ARGUMENTS, ignore_or(&status));           \
        did(MPI_File_##KIND##at, bytes);                                           \
        break;                                                                     \
    case 1:                                                                        \
        MPI_File_i##KIND##at(__VA_ARGS__, ARGUMENTS, &request);                    \
        complete(&request, 1);                                                     \
        did(MPI_File_i##KIND##at, bytes);                                          \
        break;                                                                     \
    case 2:                                                                        \
        MPI_File_##KIND##at##_all(__VA_ARGS__, ARGUMENTS, ignore_or(&status));     \
        did(MPI_File_##KIND##at##_all, bytes);                                     \
        break;                                                                     \
    case 3:                                                                        \
        MPI_File_i##KIND##at##_all(__VA_ARGS__, ARGUMENTS, &request);              \
        complete(&request, 1);                                                     \
        did(MPI_File_i##KIND##at##_all, bytes);                                    \
        break;                                                                     \
    default:                                                                       \
        MPI_File_##KIND##at##_all_begin(__VA_ARGS__, ARGUMENTS);                   \
        MPI_File_##KIND##at##_all_end(fh, in, ignore_or(&status));                 \
        did(MPI_File_##KIND##at##_all_begin, bytes);                               \
    }

#define SHARED(KIND, did)                                                          \
    switch (way) {                                                                 \
    case 0:                                                                        \
        MPI_File_##KIND##_shared(fh, ARGUMENTS, ignore_or(&status));               \
        did(MPI_File_##KIND##_shared, bytes);                                      \
        break;                                                                     \
    case 1:                                                                        \
        MPI_File_i##KIND##_shared(fh, ARGUMENTS, &request);                        \
        complete(&request, 1);                                                     \
        did(MPI_File_i##KIND##_shared, bytes);                                     \
        break;                                                                     \
    case 2:                                                                        \
    case 3:                                                                        \
        MPI_File_##KIND##_ordered(fh, ARGUMENTS, ignore_or(&status));              \
        did(MPI_File_##KIND##_ordered, bytes);                                     \
        break;                                                                     \
    default:                                                                       \
        MPI_File_##KIND##_ordered_begin(fh, ARGUMENTS);                            \
        MPI_File_##KIND##_ordered_end(fh, in, ignore_or(&status));                 \
        did(MPI_File_##KIND##_ordered_begin, bytes);                               \
    }

static const char *directory;

static void files(void) {
    static int opened;
    struct comm *k = any_intra();
    char path[4096];
    MPI_File fh;
    MPI_Request request;
    MPI_Status status;
    snprintf(path, sizeof path, "%s/file.%d.%d", directory, opened++, k->here[0]);
    MPI_File_open(k->c, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &fh);
    MPI_Offset part = ROOM * k->rank;
    asking = !ASKING_BREAKS;
    int acts = 1 + (int)pick(4);
    for (int i = 0; i < acts; i++) {
        const struct type *type;
        /* MPIs take types of pairs apart, in vain, and divide by sizes. */
        do type = any_type();
        while (type->pairs || type->size == 0);
        int where = (int)pick(3), way = (int)pick(MANY), writing = (int)pick(2);
        int count = elements(type, 4), early = pick(3) == 0;
        long bytes = count * type->size;
        if (writing) {
            if (where == 0) {
                TRANSFER(write, WROTE, _at, fh, part)
            } else if (where == 1) {
                MPI_File_seek(fh, part, MPI_SEEK_SET);
                TRANSFER(write, WROTE, , fh)
            } else {
                MPI_File_seek_shared(fh, 0, MPI_SEEK_SET);
                SHARED(write, WROTE)
            }
            continue;
        }
        /* Does the file end in front of what this process wants, or within it? Split reads for
         * all and those that are not blocking hang there, in both MPIs or one; into memory with gaps
         * the status tells what was asked for. */
        long left = (long)pick(3000);
        int may = where < 2 && (way == 0 || (way == 2 && !EARLY_END_BREAKS));
        long there = may && early && !type->derived ? left : bytes;
        long end = ROOM * k->n;
        MPI_File_set_size(fh, where < 2 && there < bytes ? ROOM * (k->n - 1) + there : end);
        MPI_Barrier(k->c);
        if (where < 2 && there < bytes && k->rank == k->n - 1) bytes = there;
        if (where == 0) {
            TRANSFER(read, READ, _at, fh, part)
        } else if (where == 1) {
            MPI_File_seek(fh, part, MPI_SEEK_SET);
            TRANSFER(read, READ, , fh)
        } else {
            MPI_File_seek_shared(fh, 0, MPI_SEEK_SET);
            SHARED(read, READ)
        }
        MPI_Barrier(k->c);
    }
    MPI_File_close(&fh);
    asking = 1;
}
