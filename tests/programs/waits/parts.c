/* Waits for partitioned messages, of known length: parts CASE FILE ROUNDS. Rank 0 gives its partitions away one by one,
   and is late with the last. Two messages of one tag are prepared, which are started in turn. */
#include "truth.h"

enum { CHANNELS = 2, PARTS = 4 };

int main(int argc, char **argv)
{
    static int parts[CHANNELS][PARTS];
    MPI_Request r[CHANNELS];
    if (argc < 4)
        return 64;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    begin_notes(argv[2]);
    together();
    for (int k = 0; k < CHANNELS; k++)
        if (own == 0)
            MPI_Psend_init(parts[k], PARTS, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[k]);
        else
            MPI_Precv_init(parts[k], PARTS, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[k]);
    for (int i = 0; i < atoi(argv[3]); i++) {
        int k = i % 3 == 0;
        double posted = now();
        MPI_Start(&r[k]);
        if (own == 0) {
            int first[] = {2, 0};
            pass(0.5);
            if (i % 2) {
                MPI_Pready_list(2, first, r[k]);
                MPI_Pready(1, r[k]);
            } else
                MPI_Pready_range(0, 2, r[k]);
            pass(2);
            sends();
            MPI_Pready(3, r[k]);
            MPI_Wait(&r[k], MPI_STATUS_IGNORE);
        } else {
            id m = {0, i};
            int flag = 0;
            /* In some rounds it is there when somebody waits for it. */
            if (i % 4 == 3)
                while (!flag)
                    MPI_Parrived(r[k], 3, &flag);
            call *c = enters("Wait", 0);
            MPI_Wait(&r[k], MPI_STATUS_IGNORE);
            leaves(c);
            got(c, m, posted);
        }
    }
    for (int k = 0; k < CHANNELS; k++)
        MPI_Request_free(&r[k]);
    end_notes();
    MPI_Finalize();
    return 0;
}
