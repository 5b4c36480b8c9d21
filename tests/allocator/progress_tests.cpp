#include <boost/test/unit_test.hpp>

#include "allocator/progress.h"

namespace jabas {
namespace {
constexpr double kExact = 1e-12;
}  // namespace

BOOST_AUTO_TEST_SUITE(progress_tests)

// var = 3, sqr = 1, B_0 = 100: gain(300) = 4 / (1 + 1) = 2, efficiency = 2/3.
BOOST_AUTO_TEST_CASE(by_hand) {
  const GradientNoise noise{1, 3, 100};
  BOOST_TEST(gain(100, noise) == 1, boost::test_tools::tolerance(kExact));
  BOOST_TEST(gain(300, noise) == 2, boost::test_tools::tolerance(kExact));
  BOOST_TEST(efficiency(300, noise) == 2.0 / 3, boost::test_tools::tolerance(kExact));
  BOOST_TEST(efficiency(300, noise) == (noise.var + noise.sqr) / (noise.var + noise.sqr * 3),
             boost::test_tools::tolerance(kExact));
}

BOOST_AUTO_TEST_CASE(unknown_noise_counts_samples) {
  for (const GradientNoise& noise : {GradientNoise{0, 3, 100}, {1, 0, 100}, {0, 0, 100}}) {
    BOOST_TEST(gain(300, noise) == 3);
    BOOST_TEST(efficiency(300, noise) == 1);
  }
}

// First rows of published statistics of ResNet-50 on ImageNet at batch 200: mostly noise, so a
// larger batch helps a lot, and never more than in proportion.
BOOST_AUTO_TEST_CASE(gain_grows_and_efficiency_falls_with_the_batch) {
  const GradientNoise noise{0.02, 1.5, 200};
  for (double batch = 200; batch < 20'000; batch *= 1.3) {
    BOOST_TEST(gain(batch * 1.3, noise) > gain(batch, noise));
    BOOST_TEST(efficiency(batch * 1.3, noise) < efficiency(batch, noise));
    BOOST_TEST(efficiency(batch, noise) <= 1 + kExact);
    BOOST_TEST(gain(batch, noise) >= 1 - kExact);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
