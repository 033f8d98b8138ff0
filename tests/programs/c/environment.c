// topas: compiler=gcc expect: lang=c lib=- user=tester end=exit:0 stdout="environment cleared"
//
// Changes and clears its environment; what was set when it started counts.

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    static char entry[] = "LOGNAME=putenv";
    if (setenv("LOGNAME", "setenv", 1) != 0 || putenv(entry) != 0 || clearenv() != 0)
        return 1;
    if (getenv("LOGNAME") != NULL || setenv("TOPAS_LOG", "file:/nonexistent/x", 1) != 0)
        return 2;
    puts("environment cleared");
    return 0;
}
