// Does nothing: what remains is start and exit.

int main(void)
{
    return 0;
}
