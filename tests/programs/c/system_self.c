// topas: compiler=gcc expect: lang=c lib=- end=exit:0 stdout="child says: child"
//
// Starts its own executable as a child, which inherits the environment of a rank and is
// none.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    char command[4096];
    if (argc > 1 && strcmp(argv[1], "child") == 0) {
        puts("child says: child");
        return 7;
    }
    snprintf(command, sizeof command, "'%s' child", argv[0]);
    return WEXITSTATUS(system(command)) == 7 ? 0 : 1;
}
