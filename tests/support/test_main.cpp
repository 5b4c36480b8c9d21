// The one definition of Boost.Test's main for each test program.
#include <boost/test/unit_test.hpp>
