// Writes a line into the file of its argument and waits for a signal.

#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int file = open(argc > 1 ? argv[1] : "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (file < 0 || write(file, "here\n", 5) != 5)
        return 1;
    for (;;)
        pause();
}
