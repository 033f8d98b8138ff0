// Does nothing: what remains are the system calls of start and end.

int main(void)
{
    return 0;
}
