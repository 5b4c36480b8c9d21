// The one definition of Boost.Test's main for each test program.
#define BOOST_TEST_MODULE jabas
#include <boost/test/unit_test.hpp>
