// topas: ranks=8 static=mpich expect: lang=cxx lib=mpi end=exit:0
// topas: expect: stdout="hello from rank 7 of 8" stdout="caught 42"
//
// C++ with a static object, a stream and an exception.

#include <mpi.h>

#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace {

struct Greeting {
    std::string text = "hello";
};

Greeting greeting;

int thrown()
{
    try {
        throw std::runtime_error("42");
    } catch (const std::exception &error) {
        return std::stoi(error.what());
    }
}

}  // namespace

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::ostringstream line;
    line << greeting.text << " from rank " << rank << " of " << ranks << "\n";
    if (rank == 0)
        line << "caught " << thrown() << "\n";
    std::cout << line.str() << std::flush;
    MPI_Finalize();
}
