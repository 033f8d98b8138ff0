/* Arguments: what to begin with (`init`, `thread`, or `child` of another), and a path that both
 * may write to. */
#include "base.h"
#include "groups.h"
#include "types.h"
#include "environment.h"
#include "messages.h"
#include "objects.h"
#include "processes.h"
#include "tools.h"

/* What ended too early shows how far it came. */
#define DO(chapter, ...) (chapter(__VA_ARGS__), (void)fprintf(stderr, "%d: %s\n", rank, #chapter))

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "child")) return child();
    if (argc < 3) return 2;
    self = argv[0];
    scratch = argv[2];
    if (!strcmp(argv[1], "thread"))
        MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &number);
    else
        MPI_Init(&argc, &argv);
    if (!strcmp(argv[1], "thread")) return MPI_Finalize();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    other = 1 - rank;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Info_create(&info);
    DO(groups);
    DO(communicators);
    DO(attributes);
    DO(topologies);
    DO(datatypes);
    DO(packing);
    DO(operators);
    DO(removed);
    DO(environment);
    DO(errors);
    DO(hints, argc, argv);
    DO(conversions);
    DO(completion);
    DO(exchanges);
    DO(of_status);
    DO(probes);
    DO(buffers_and_barriers);
    DO(partitions);
    DO(windows);
    DO(files);
    DO(tools);
    DO(joined);
    DO(connected);
    DO(spawned);
#if MPI_VERSION >= 4
    DO(sessions);
#endif
    MPI_Info_free(&info);
    return MPI_Finalize();
}
