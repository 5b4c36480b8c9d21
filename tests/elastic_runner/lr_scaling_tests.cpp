#include <boost/test/unit_test.hpp>

#include "allocator/error.h"
#include "elastic_runner/lr_scaling.h"

using namespace jabas;

BOOST_AUTO_TEST_SUITE(lr_scaling_tests)

BOOST_AUTO_TEST_CASE(factor_follows_the_batch) {
  BOOST_TEST(lr_factor("sqrt", 256, 64) == 2.0);
  BOOST_TEST(lr_factor("linear", 256, 64) == 4.0);
  BOOST_TEST(lr_factor("none", 256, 64) == 1.0);
  BOOST_TEST(lr_factor("sqrt", 64, 64) == 1.0);
}

BOOST_AUTO_TEST_CASE(unknown_name_lists_the_known_ones) {
  BOOST_CHECK_EXCEPTION(lr_factor("cubic", 1, 1), UsageError, [](const UsageError& error) {
    return std::string(error.what()) == "--lr-scaling=cubic: accepted are sqrt, linear and none";
  });
}

BOOST_AUTO_TEST_SUITE_END()
