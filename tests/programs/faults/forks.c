// A rank whose children end in several ways, one of them after functions of MPI that may be called at
// any time. Nothing of a child is the rank's.
//
// profile: ranks=2
// profile: Barrier@all calls=2
// profile: Send@0 calls=10 sent=40
// profile: Recv@1 calls=10 received=40
// profile: Get_version@all calls=1
// profile: Finalize@all calls=1

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int child(int way)
{
    int version, subversion, status = -1;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 1000; i++)
            MPI_Get_version(&version, &subversion);
        if (way == 0)
            exit(3);
        if (way == 1)
            _exit(4);
        if (way == 2)
            raise(SIGKILL);
        execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
    }
    waitpid(pid, &status, 0);
    return status;
}

int main(int argc, char **argv)
{
    int rank, value = 0, version, subversion;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_version(&version, &subversion);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int way = 0; way < 4; way++)
        printf("%d: %x\n", rank, child(way));
    for (int i = 0; i < 10; i++)
        if (rank == 0)
            MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        else
            MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
