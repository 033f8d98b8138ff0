// Overwrites the text of its environment where it stands, as programs do that show a title
// of their own in the list of processes.

#include <stdio.h>
#include <string.h>

extern char **environ;

int main(void)
{
    for (char **entry = environ; *entry != NULL; entry++)
        memset(*entry, 'x', strlen(*entry));
    puts("result 42");
    fputs("a warning of the program\n", stderr);
    return 3;
}
