// topas: compiler=gcc expect: lang=c lib=- end=exit:0 stdout="own functions: 5"
//
// Has functions of its own with names of libc's. Only this program may call them: the
// last destructor ends it with code 9 if anybody else did.

#include <stdio.h>
#include <stdlib.h>

void _exit(int);

static int calls;

long read(int fd, void *to, unsigned long count)
{
    (void)fd, (void)to, (void)count;
    return ++calls;
}

long write(int fd, const void *from, unsigned long count)
{
    (void)fd, (void)from, (void)count;
    return ++calls;
}

int open(const char *path, int flags, ...)
{
    (void)path, (void)flags;
    return ++calls;
}

int close(int fd)
{
    (void)fd;
    return ++calls;
}

long times(void *to)
{
    (void)to;
    return ++calls;
}

__attribute__((destructor(101))) static void check(void)
{
    if (calls != 5)
        _exit(9);
}

int main(void)
{
    read(0, NULL, 0);
    write(1, "", 0);
    open("", 0);
    close(-1);
    times(NULL);
    printf("own functions: %d\n", calls);
    return 0;
}
