#include <ATen/ATen.h>

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "elastic_runner/gradient_clipping.h"

namespace jabas {

BOOST_AUTO_TEST_SUITE(gradient_clipping_tests)

// Longer than a piece, and of an odd length.
BOOST_AUTO_TEST_CASE(a_longer_gradient_keeps_its_direction_and_gets_the_length_of_the_limit) {
  for (const auto type : {at::kFloat, at::kDouble}) {
    at::Tensor gradient = at::full({100001}, 0.01, type);
    const double norm = 0.01 * std::sqrt(100001.0);
    BOOST_TEST(clip_to_norm(gradient, 0.5) == norm, boost::test_tools::tolerance(1e-4));
    BOOST_TEST(gradient.norm().item<double>() == 0.5, boost::test_tools::tolerance(1e-3));
    BOOST_TEST(gradient.min().item<double>() == gradient.max().item<double>());
    BOOST_TEST(gradient[0].item<double>() == 0.01 * 0.5 / norm, boost::test_tools::tolerance(1e-4));
  }
}

BOOST_AUTO_TEST_CASE(a_shorter_one_stays_as_it_is) {
  at::Tensor gradient = at::full({100}, 0.1);
  const at::Tensor before = gradient.clone();
  BOOST_TEST(clip_to_norm(gradient, 1.01) == 1.0, boost::test_tools::tolerance(1e-5));
  BOOST_TEST(at::equal(gradient, before));
}

BOOST_AUTO_TEST_CASE(a_diverged_gradient_stays_as_it_is) {
  at::Tensor gradient = at::ones({4});
  gradient[2] = INFINITY;
  BOOST_TEST(std::isinf(clip_to_norm(gradient, 1)));
  BOOST_TEST(gradient[0].item<double>() == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
