#include <mpi.h>

#include <iostream>
#include <stdexcept>

int main()
{
    int version = 0, subversion = 0;
    MPI_Get_version(&version, &subversion);
    try {
        throw std::runtime_error("answer ");
    } catch (const std::exception &e) {
        std::cout << e.what() << (version > 0 ? 42 : 0) << std::endl;
    }
}
