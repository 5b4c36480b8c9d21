#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "allocator/online_correction.h"

using namespace jabas;

namespace {

namespace tt = boost::test_tools;

OnlineCorrection settled(double factor) {
  OnlineCorrection correction;
  for (int i = 0; i < 30; ++i) correction.observe(0.1, 0.1 * factor, 200);
  return correction;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(online_correction_tests)

BOOST_AUTO_TEST_CASE(nothing_measured_corrects_nothing) {
  const OnlineCorrection correction;
  BOOST_TEST(correction.factor() == 1.0);
  BOOST_TEST(correction.deviation() == 0.5);
}

BOOST_AUTO_TEST_CASE(one_good_report_is_nearly_believed) {
  OnlineCorrection correction;
  correction.observe(0.1, 0.13, 100);
  BOOST_TEST(correction.factor() == 1.3, tt::tolerance(0.01));
  BOOST_TEST(correction.deviation() < 0.05);
  BOOST_TEST(correction.reports() == 1);
}

BOOST_AUTO_TEST_CASE(it_finds_the_factor_in_noise) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  std::normal_distribution<> noise(0, 0.05);
  OnlineCorrection correction;
  double worst = 0;
  for (int i = 0; i < 200; ++i) {
    correction.observe(0.02, 0.02 * 0.6 * std::exp(noise(random)), 20);
    if (i >= 20) worst = std::max(worst, std::abs(correction.factor() / 0.6 - 1));
  }
  BOOST_TEST(worst < 0.15);
}

// A stalled step, also one that stalls for a minute, moves it by less than 4 %.
BOOST_AUTO_TEST_CASE(an_outlier_does_not_wreck_it) {
  for (const double stall : {3.0, 600.0, 0.01}) {
    OnlineCorrection correction = settled(1.5);
    correction.observe(0.1, 0.15 * stall, 200);
    BOOST_TEST(correction.factor() == 1.5, tt::tolerance(0.04));
    correction.observe(0.1, 0.15, 200);
    BOOST_TEST(correction.factor() == 1.5, tt::tolerance(0.03));
  }
}

BOOST_AUTO_TEST_CASE(a_change_that_stays_is_followed) {
  OnlineCorrection correction = settled(1);
  for (int i = 0; i < 3; ++i) correction.observe(0.1, 0.25, 200);
  BOOST_TEST(correction.factor() == 2.5, tt::tolerance(0.02));
}

BOOST_AUTO_TEST_CASE(many_steps_count_more_than_one) {
  OnlineCorrection one = settled(1), many = settled(1);
  one.observe(0.1, 0.11, 1);
  many.observe(0.1, 0.11, 1000);
  BOOST_TEST(many.factor() - 1 > 5 * (one.factor() - 1));
}

BOOST_AUTO_TEST_CASE(what_is_no_time_is_left_out) {
  OnlineCorrection correction;
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  for (const auto& [predicted, measured] :
       {std::pair{0.0, 1.0}, {1.0, 0.0}, {-1.0, 1.0}, {1.0, nan}, {nan, 1.0}, {1.0, infinity}})
    correction.observe(predicted, measured, 10);
  correction.observe(1, 2, 0);
  BOOST_TEST(correction.reports() == 0);
  BOOST_TEST(correction.factor() == 1.0);
}

BOOST_AUTO_TEST_CASE(it_goes_on_from_what_was_written_down) {
  OnlineCorrection before = settled(1.4);
  OnlineCorrection after(before.factor(), before.deviation(), before.reports());
  for (OnlineCorrection* each : {&before, &after}) each->observe(0.1, 0.16, 50);
  BOOST_TEST(after.factor() == before.factor(), tt::tolerance(1e-12));
  BOOST_TEST(after.reports() == 31);
}

BOOST_AUTO_TEST_CASE(all_times_of_a_type_and_all_all_reduces_are_scaled) {
  TypeProfile type;
  type.points = {{32, 1, 0.1, 0.2, 0.3, 0.4, 0, 0}};
  scale_times(&type, 2);
  BOOST_TEST(type.points[0].data_s == 0.2);
  BOOST_TEST(type.points[0].backward_s == 0.6);
  BOOST_TEST(type.points[0].update_s == 0.8);

  Profile profile;
  profile.intra = {1e9, {{0.001, 0.002}}};
  profile.inter = {1e8, {}};
  profile.types["own"].intra = {4e9, {}};  // with the points above
  scale_all_reduces(&profile, 2);
  BOOST_TEST(profile.intra.points[0].second == 0.004);
  BOOST_TEST(profile.inter.bandwidth_bytes_per_s == 5e7);
  BOOST_TEST(profile.types["own"].intra.bandwidth_bytes_per_s == 4e9);
}

BOOST_AUTO_TEST_SUITE_END()
