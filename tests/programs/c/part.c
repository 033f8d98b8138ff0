// A shared library.

const char *greeting(void)
{
    return "no MPI here";
}
