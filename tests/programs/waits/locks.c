/* Waits for locks of windows, of known length: locks CASE FILE ROUNDS. Rank 0 wants a lock while rank 1 or 2 holds one,
   of its own memory or of that of the third. The others are in MPI meanwhile, as some MPIs need. */
#include "truth.h"

enum { WAYS = 6 };

int main(int argc, char **argv)
{
    static int memory[4];
    int value = 1, held[RANKS] = {0};
    MPI_Win win;
    if (argc != 4)
        return 64;
    int rounds = begin(&argc, &argv);
    if (!strcmp(argv[1], "allocated")) {
        int *allocated;
        MPI_Win_allocate(sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &win);
    } else
        MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < rounds; i++) {
        int holder = 1 + i % 2, target = 1 + i / 2 % 2, way = i / 4 % WAYS;
        /* Both exclusive, one of both shared, both shared; one of all ranks. */
        int holds_shared = way == 2 || way == 3, wants_shared = way == 1 || way == 3;
        int holds_all = way == 4, wants_all = way == 5, number = held[holder]++;
        if (own == holder) {
            if (holds_all)
                MPI_Win_lock_all(0, win);
            else
                MPI_Win_lock(holds_shared ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, win);
            MPI_Put(&value, 1, MPI_INT, target, own, 1, MPI_INT, win);
            MPI_Win_flush(target, win);
            __atomic_store_n(&of_rank[own].collectives, i + 1, __ATOMIC_RELEASE);
            pass(2 + dice(20) / 10.);
            sends();
            if (holds_all)
                MPI_Win_unlock_all(win);
            else
                MPI_Win_unlock(target, win);
        } else if (own == 0) {
            /* Whoever wants the memory of all ranks needs this one, too. */
            for (int flag; __atomic_load_n(&of_rank[holder].collectives, __ATOMIC_ACQUIRE) <= i; usleep(20))
                MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            pass(dice(30) / 10.);
            call *c = enters(wants_all ? "Win_lock_all" : "Win_lock", 4);
            if (wants_all)
                MPI_Win_lock_all(0, win);
            else
                MPI_Win_lock(wants_shared ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, win);
            leaves(c);
            if (way != 3)
                got(c, (id){holder, number}, 0);
            MPI_Put(&value, 1, MPI_INT, target, own, 1, MPI_INT, win);
            if (wants_all)
                MPI_Win_unlock_all(win);
            else
                MPI_Win_unlock(target, win);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&win);
    end_notes();
    MPI_Finalize();
    return 0;
}
