#include <boost/test/unit_test.hpp>
#include <cmath>

#include "allocator/error.h"
#include "elastic_runner/lr_scaling.h"

using namespace jabas;

namespace {

BatchSituation at(double batch, double sqr = 0, double trace = 0) {
  return {batch, 64, sqr, trace, false};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lr_scaling_tests)

BOOST_AUTO_TEST_CASE(factor_follows_the_batch) {
  BOOST_TEST(lr_factor("sqrt", at(256)) == 2.0);
  BOOST_TEST(lr_factor("linear", at(256)) == 4.0);
  BOOST_TEST(lr_factor("none", at(256)) == 1.0);
  BOOST_TEST(lr_factor("sqrt", at(64)) == 1.0);
}

// σ² = trace/64 = 3, μ² = 1: (3 + 1)/(3·64/B + 1).
BOOST_AUTO_TEST_CASE(adascale_is_the_gain_of_the_step) {
  BOOST_TEST(lr_factor("adascale", at(64, 1, 192)) == 1.0);
  BOOST_TEST(lr_factor("adascale", at(192, 1, 192)) == 2.0);
  BOOST_TEST(lr_factor("adascale", at(1e12, 1, 192)) == 4.0, boost::test_tools::tolerance(1e-6));
  BatchSituation adam = at(192, 1, 192);
  adam.normalised = true;
  BOOST_TEST(lr_factor("adascale", adam) == std::sqrt(2.0));
}

BOOST_AUTO_TEST_CASE(adascale_lies_between_one_and_the_batchs_ratio) {
  BOOST_TEST(lr_factor("adascale", at(256, -0.1, 192)) == 4.0);  // nothing but noise
  BOOST_TEST(lr_factor("adascale", at(256, 1, -5)) == 1.0);      // no noise to be seen
  BOOST_TEST(lr_factor("adascale", at(256)) == 1.0);             // nothing measured yet
}

BOOST_AUTO_TEST_CASE(unknown_name_lists_the_known_ones) {
  BOOST_CHECK_EXCEPTION(lr_factor("cubic", at(1)), UsageError, [](const UsageError& error) {
    return std::string(error.what()) ==
           "--lr-scaling=cubic: accepted are sqrt, linear, adascale and none";
  });
}

BOOST_AUTO_TEST_SUITE_END()
