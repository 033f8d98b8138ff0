#include "base.h"
#include "comms.h"
#include "messages.h"
#include "collectives.h"
#include "windows.h"
#include "files.h"

static FILE *report;

/* sends sent receives received */
static void say_moved(const char *what, const char *name, const struct moved *moved) {
    fprintf(report, "%s|%s|%llu %llu %llu %llu\n", what, name, moved->number[0], moved->bytes[0],
            moved->number[1], moved->bytes[1]);
}

static void say_comm(struct comm *k) { say_moved("comm", k->name, &k->moved); }

static void say_all(void) {
    char name[32];
    for (int i = 0; i < COUNTED; i++) {
        if (!expected[i].number[0] && !expected[i].number[1]) continue;
        say_moved("function", counted_names[i], &expected[i]);
        for (int way = 0; way < 2; way++) {
            if (!expected[i].number[way]) continue;
            fprintf(report, "sizes|%s|%d", counted_names[i], way);
            for (int bin = 0; bin < BINS; bin++)
                fprintf(report, " %llu", expected_sizes[i][way][bin]);
            fprintf(report, "\n");
        }
    }
    for (int i = 0; i < ranks; i++) {
        snprintf(name, sizeof name, "%d", i);
        say_moved("peer", name, &by_peer[i]);
    }
}

static void one_program(unsigned long long seed, int only) {
    shared_state = seed;
    own_state = seed * 1000003 + (unsigned)world;
    make_types();
    make_comms();
    int acts = 20 + (int)pick(20);
    for (int i = 0; i < acts; i++) {
        unsigned what = pick(20);
        if (only >= 0) what = (unsigned)only;
        if (getenv("TRAFFIC_LOUD"))
            fprintf(stderr, "%d: seed %llu act %d: %u, %llx\n", world, seed, i, what, shared_state);
        switch (what) {
        case 0: case 1: case 2: case 3: case 4: case 5: case 6: pass_message(); break;
        case 7: shift(); break;
        case 8: case 9: exchange(); break;
        case 10: cancel(); break;
        case 11: case 12: rooted(); break;
        case 13: case 14: everybody(); break;
        case 15: neighbors(); break;
        case 16: one_sided(); break;
        case 17:
            if (FILES_BREAK) pass_message();
            else files();
            break;
#if MPI_VERSION >= 4
        case 18: partitions(); break;
#endif
        default: pass_message();
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free_comms();
    free_types();
}

/* traffic DIRECTORY FIRST NUMBER [ONLY]: programs with these seeds, of one kind of act. */
int main(int argc, char **argv) {
    int provided;
    static char attached[1 << 22];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    out = calloc(MOST + 4, ROOM);
    in = calloc(MOST + 4, ROOM);
    MPI_Buffer_attach(attached, sizeof attached);
    directory = argv[1];
    report = counted_file("expected");
    unsigned long long first = strtoull(argv[2], NULL, 10), n = strtoull(argv[3], NULL, 10);
    for (unsigned long long seed = first; seed < first + n; seed++)
        one_program(seed, argc > 4 ? atoi(argv[4]) : -1);
    say_all();
    fclose(report);
    MPI_Finalize();
    return 0;
}
