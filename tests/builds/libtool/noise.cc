// Makes libtool link a library with the C++ driver.

#include <string>

std::string noise()
{
    return "noise";
}
