// topas: compiler=gcc expect: lines=0 stdout="another program"
//
// Becomes another program: its own end never comes, and the other was not linked with
// the module.

#include <unistd.h>

int main(void)
{
    execl("/bin/echo", "echo", "another program", (char *)NULL);
    return 1;
}
