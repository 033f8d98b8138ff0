// Calls MPI through a shared library only.

int part(void);

int main(void)
{
    return part();
}
