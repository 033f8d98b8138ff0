// Ranks that wait for ever, in the way that the argument names: "circle", each sends a long message to the
// next; "collective", one waits for a message that nobody sends, the others for it; "window", one accesses the windows of all
// others, of which the last posts none; "windows", of which none posts one; "finalize", two wait
// for each other, the others are through; "computing", one computes for ever, the others wait for it; "ending", the same at the
// end; "asking", one asks for ever for a message that nobody sends; "mismatch", one is in another collective operation than the
// others; "order", one calls the same one of two communicators in another order; "requests", each of two waits for two messages
// of the other, which sends one; "tags", one waits for a message with another tag than the one that was sent; "duplicate", the same in
// another communicator; "elsewhere", one waits for a message that was sent on another communicator; "probing", one looks for a message
// on a duplicate of the world, the others wait for it in a barrier of this; "part", one sleeps for ever, one of the others waits for it
// in a collective operation of these two, and one in a barrier of all; "gone", two wait for a message of a rank that has none for them and is at the end; "sender", one waits
// for a message of another rank than the one that sent one; "large", one waits until its long message has left, which nobody
// receives; "stamped", as "circle", and rank 0 writes to the file PROGRAM.stamp when it comes to its call, in ns since 1970.

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LONG = 1 << 20 };
static double there[LONG], back[LONG];

__attribute__((noinline)) static void circle(int rank, int ranks)
{
    MPI_Send(there, LONG, MPI_DOUBLE, (rank + 1) % ranks, 0, MPI_COMM_WORLD); // circle
    MPI_Recv(back, LONG, MPI_DOUBLE, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void stamp(const char *program)
{
    char name[4096];
    struct timespec now;
    snprintf(name, sizeof name, "%s.stamp", program);
    FILE *file = fopen(name, "w");
    clock_gettime(CLOCK_REALTIME, &now);
    if (file)
        fprintf(file, "%lld", now.tv_sec * 1000000000LL + now.tv_nsec), fclose(file);
}

__attribute__((noinline)) static void collective(int rank)
{
    int one = 1, sum;
    if (rank == 1)
        MPI_Recv(&one, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // message
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); // sum
}

__attribute__((noinline)) static void window(int rank, int ranks, int posting)
{
    int members[64], zero = 0, count = 0;
    double *memory;
    MPI_Win window;
    MPI_Group all, others, origin;
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &zero, &origin);
    for (int other = 1; other < ranks; other++)
        members[count++] = other;
    MPI_Group_incl(all, count, members, &others);
    // The second access is to what was posted once, and not again.
    for (int round = 0; round < 2; round++) {
        if (rank == 0) {
            MPI_Win_start(others, 0, window); // start
            MPI_Win_complete(window);
        } else {
            while (round == 1 && rank >= posting)
                usleep(10000);
            MPI_Win_post(origin, 0, window);
            MPI_Win_wait(window);
        }
    }
}

__attribute__((noinline)) static void pair(int rank)
{
    int one;
    if (rank < 2)
        MPI_Recv(&one, 1, MPI_INT, 1 - rank, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // pair
}

__attribute__((noinline)) static void computing(int rank)
{
    while (rank == 1)
        usleep(10000);
    MPI_Barrier(MPI_COMM_WORLD); // barrier
}

__attribute__((noinline)) static void ending(int rank)
{
    while (rank == 1)
        usleep(10000);
}

__attribute__((noinline)) static void asking(int rank)
{
    int found = rank != 1;
    while (!found) {
        MPI_Iprobe(0, 99, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE); // probe
        usleep(2000);
    }
    MPI_Barrier(MPI_COMM_WORLD); // last
}

__attribute__((noinline)) static void mismatch(int rank)
{
    if (rank == 2)
        MPI_Bcast(there, LONG, MPI_DOUBLE, 2, MPI_COMM_WORLD);
    else
        MPI_Allreduce(there, back, LONG, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void together(MPI_Comm all)
{
    MPI_Barrier(all);
    there[0]++;
}

__attribute__((noinline)) static void order(int rank)
{
    MPI_Comm all[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &all[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &all[1]);
    together(all[rank == 0]);
    together(all[rank != 0]);
}

__attribute__((noinline)) static void requests(int rank, MPI_Comm all)
{
    MPI_Request open[2];
    int own = rank, other[2];
    if (rank > 1)
        return;
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&other[i], 1, MPI_INT, 1 - rank, 7, all, &open[i]);
    MPI_Send(&own, 1, MPI_INT, 1 - rank, 7, all);
    MPI_Waitall(2, open, MPI_STATUSES_IGNORE); // requests
}

__attribute__((noinline)) static void tags(int rank, MPI_Comm all)
{
    int one = 1;
    if (rank == 0)
        MPI_Send(&one, 1, MPI_INT, 1, 11, all);
    if (rank == 1)
        MPI_Recv(&one, 1, MPI_INT, 0, 12, all, MPI_STATUS_IGNORE); // tags
}

__attribute__((noinline)) static void elsewhere(int rank, MPI_Comm all)
{
    int one = 1;
    if (rank == 0)
        MPI_Send(&one, 1, MPI_INT, 1, 12, all);
    if (rank == 1)
        MPI_Recv(&one, 1, MPI_INT, 0, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // elsewhere
}

__attribute__((noinline)) static void probing(int rank, MPI_Comm all)
{
    if (rank == 2)
        MPI_Probe(0, 9, all, MPI_STATUS_IGNORE); // probing
    MPI_Barrier(all); // passed
}

__attribute__((noinline)) static void part(int rank, MPI_Comm two)
{
    int one = 1, sum;
    while (rank == 1)
        usleep(10000);
    if (rank == 0)
        MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, two); // part
    MPI_Barrier(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void gone(int rank)
{
    int one;
    if (rank != 2)
        MPI_Recv(&one, 1, MPI_INT, 2, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // gone
}

__attribute__((noinline)) static void sender(int rank)
{
    int one = 1;
    MPI_Request open;
    if (rank == 2)
        MPI_Send(&one, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Irecv(&one, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &open);
        MPI_Wait(&open, MPI_STATUS_IGNORE); // sender
    }
}

__attribute__((noinline)) static void large(int rank)
{
    MPI_Request open;
    if (rank != 2)
        return;
    MPI_Isend(there, LONG, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, &open);
    MPI_Wait(&open, MPI_STATUS_IGNORE); // large
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    together(MPI_COMM_WORLD);
    if (strcmp(argv[1], "circle") == 0)
        circle(rank, ranks);
    else if (strcmp(argv[1], "stamped") == 0) {
        sleep(1);
        if (rank == 0)
            stamp(argv[0]);
        circle(rank, ranks);
    } else if (strcmp(argv[1], "collective") == 0)
        collective(rank);
    else if (strcmp(argv[1], "window") == 0)
        window(rank, ranks, ranks - 1);
    else if (strcmp(argv[1], "windows") == 0)
        window(rank, ranks, 1);
    else if (strcmp(argv[1], "finalize") == 0)
        pair(rank);
    else if (strcmp(argv[1], "ending") == 0)
        ending(rank);
    else if (strcmp(argv[1], "asking") == 0)
        asking(rank);
    else if (strcmp(argv[1], "mismatch") == 0)
        mismatch(rank);
    else if (strcmp(argv[1], "order") == 0)
        order(rank);
    else if (strcmp(argv[1], "requests") == 0) {
        MPI_Comm all, part;
        MPI_Comm_dup(MPI_COMM_WORLD, &all);
        MPI_Comm_split(all, rank / 2, rank, &part);
        requests(rank, part);
    } else if (strcmp(argv[1], "tags") == 0)
        tags(rank, MPI_COMM_WORLD);
    else if (strcmp(argv[1], "duplicate") == 0) {
        MPI_Comm all;
        MPI_Comm_dup(MPI_COMM_WORLD, &all);
        tags(rank, all);
    } else if (strcmp(argv[1], "elsewhere") == 0 || strcmp(argv[1], "probing") == 0) {
        MPI_Comm all;
        MPI_Comm_dup(MPI_COMM_WORLD, &all);
        argv[1][0] == 'e' ? elsewhere(rank, all) : probing(rank, all);
    } else if (strcmp(argv[1], "part") == 0) {
        MPI_Comm two;
        MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &two);
        part(rank, two);
    } else if (strcmp(argv[1], "gone") == 0)
        gone(rank);
    else if (strcmp(argv[1], "sender") == 0)
        sender(rank);
    else if (strcmp(argv[1], "large") == 0)
        large(rank);
    else
        computing(rank);
    MPI_Finalize(); // end
    return 0;
}
