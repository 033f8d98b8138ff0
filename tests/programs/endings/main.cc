// As main.c, with the ways of C++ first.

#include "ways.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#ifdef WITH_MPI
#include "launched.h"
#include <mpi.h>
#endif

namespace {

[[noreturn]] void throws()
{
    throw std::runtime_error("nobody catches this");
}

[[noreturn]] void may_not_throw() noexcept
{
    throws();
}

struct Fragile {
    bool armed = false;
    ~Fragile() noexcept(false)
    {
        if (armed)
            throws();
    }
};

Fragile at_exit;

struct Base {
    Base() { calls(); }
    virtual ~Base() = default;
    void calls() { pure(); }
    virtual void pure() = 0;
};

struct Derived : Base {
    void pure() override {}
};

[[noreturn]] void leaves()
{
    std::_Exit(9);
}

int end_by_cxx(const std::string &way, int number)
{
    if (way == "throw")
        throws();
    if (way == "throw_int")
        throw number;
    if (way == "noexcept")
        may_not_throw();
    if (way == "terminate")
        std::terminate();
    if (way == "thread_throw") {
        std::thread(throws).join();
        return FAILED;
    }
    if (way == "joinable_thread") {
        std::thread waits(wait_to_be_killed);
        return FAILED;
    }
    if (way == "throw_at_exit") {
        at_exit.armed = true;
        return number;
    }
    if (way == "pure_virtual") {
        Derived derived;
        return FAILED;
    }
    if (way == "own_terminate") {
        std::set_terminate(leaves);
        throws();
    }
    if (way == "caught") {
        try {
            throws();
        } catch (const std::exception &) {
            return number;
        }
    }
    if (way == "std_quick_exit")
        std::quick_exit(number);
    return end_by(way.c_str(), number);
}

} // namespace

int main(int argc, char **argv)
{
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
    if (argc != 5 || !acts(argv[3], std::atoi(argv[4])))
        return 0;
#else
    if (argc != 3)
        return UNKNOWN;
#endif
    return end_by_cxx(argv[1], std::atoi(argv[2]));
}
