// Waits for a child that holds it for three seconds, as a program does whose child hangs before
// it becomes another: such a wait ends early only by a signal that is fatal to the kernel.

#include <unistd.h>

int main(void)
{
    pid_t child = vfork();
    if (child == 0) {
        write(1, "waiting\n", 8);
        // Nobody waits for its output.
        close(1);
        close(2);
        sleep(3);
        _exit(0);
    }
    return child < 0;
}
