// topas: compiler=gcc ranks=8 expect: lang=c lib=- end=exit:0 stdout="no MPI here"
//
// A program without any MPI, started by an MPI's launcher.

#include <stdio.h>

int main(void)
{
    puts("no MPI here");
    return 0;
}
