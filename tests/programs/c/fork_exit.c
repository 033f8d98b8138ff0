// topas: expect: lang=c lib=mpi end=exit:0 stdout="child ended with 5"
//
// A child that is forked without exec and calls exit, before MPI is initialized: exit
// handlers run again there, and no line may come of it.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        exit(5);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 1;
    printf("child ended with %d\n", WEXITSTATUS(status));
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
