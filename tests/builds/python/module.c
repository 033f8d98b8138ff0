// A Python module that calls MPI.

#include <Python.h>

#include <mpi.h>

static PyObject *run(PyObject *self, PyObject *args)
{
    int rank;
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Finalize();
    return PyLong_FromLong(rank);
}

static PyMethodDef methods[] = {
    {"run", run, METH_NOARGS, "Begins and ends MPI; the rank."},
    {0, 0, 0, 0},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "hello", 0, -1, methods, 0, 0, 0, 0,
};

PyMODINIT_FUNC PyInit_hello(void)
{
    return PyModule_Create(&module);
}
