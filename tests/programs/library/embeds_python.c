// Runs the Python statements of its argument.

#include <Python.h>

int main(int argc, char **argv)
{
    Py_Initialize();
    int failed = PyRun_SimpleString(argc > 1 ? argv[1] : "");
    return Py_FinalizeEx() < 0 || failed;
}
