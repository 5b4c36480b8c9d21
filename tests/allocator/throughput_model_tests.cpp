#include <boost/test/unit_test.hpp>
#include <cmath>

#include "allocator/throughput_model.h"
#include "tests/allocator/profile_fixtures.h"

namespace jabas {
namespace {

constexpr double kExact = 1e-12;

// b=32: one stream takes 30+70 ms, two 50+130 (n = 1.11), four 90+230 (n = 1.25).
TypeProfile measured() {
  TypeProfile type;
  type.points = {{32, 1, 0.01, 0.03, 0.07, 0.004, 0, 0},
                 {32, 2, 0.02, 0.05, 0.13, 0.006, 0, 0},
                 {32, 4, 0.04, 0.09, 0.23, 0.005, 0, 0},
                 {64, 1, 0.02, 0.05, 0.13, 0.005, 0, 0}};
  type.max_streams = {{32, 6}};
  return type;
}

double both(const PassTimes& pass) { return pass.forward_s + pass.backward_s; }

}  // namespace

BOOST_AUTO_TEST_SUITE(throughput_model_tests)

BOOST_AUTO_TEST_CASE(measured_points_are_used_as_they_are) {
  const TypeModel model(measured());
  for (const auto& [streams, forward_s, backward_s] :
       {std::tuple(1, 0.03, 0.07), {2, 0.05, 0.13}, {4, 0.09, 0.23}}) {
    BOOST_TEST(model.pass(32, streams).forward_s == forward_s);
    BOOST_TEST(model.pass(32, streams).backward_s == backward_s);
    BOOST_TEST(model.pass(32, streams).data_s == 0.01 * streams);
  }
  BOOST_TEST(model.update_s() == 0.005, boost::test_tools::tolerance(kExact));
}

// n(V) = α·ln V + β through (1, 1), (2, 10/9), (4, 1.25), by hand: α = 0.25/ln 4 (the middle point
// is the mean of ln V), β = mean(n) − α·ln 2.
BOOST_AUTO_TEST_CASE(the_log_fit_is_used_between_and_beyond) {
  const TypeModel model(measured());
  const double alpha = 0.25 / std::log(4.0),
               beta = (1 + 10.0 / 9 + 1.25) / 3 - alpha * std::log(2.0);
  for (const int streams : {3, 5, 6}) {
    const double n = alpha * std::log(streams) + beta;
    BOOST_TEST(both(model.pass(32, streams)) == streams * 0.1 / n,
               boost::test_tools::tolerance(1e-9));
    BOOST_TEST(model.pass(32, streams).data_s == (streams == 3   ? 0.03
                                                  : streams == 5 ? 0.05
                                                                 : 0.06),
               boost::test_tools::tolerance(kExact));
    // The forward share is that of the largest measured V.
    BOOST_TEST(model.pass(32, streams).forward_s / both(model.pass(32, streams)) == 0.09 / 0.32,
               boost::test_tools::tolerance(1e-9));
  }
}

BOOST_AUTO_TEST_CASE(one_measured_stream_count_means_no_gain_from_more) {
  const TypeModel model(measured());
  BOOST_TEST(both(model.pass(64, 3)) >= 3 * 0.18);
}

BOOST_AUTO_TEST_CASE(between_local_batches_times_lie_on_a_line_and_outside_in_proportion) {
  const TypeModel model(measured());
  BOOST_TEST(model.pass(40, 1).forward_s == 0.03 + 0.25 * 0.02,
             boost::test_tools::tolerance(kExact));
  BOOST_TEST(model.pass(40, 1).data_s == 0.0125, boost::test_tools::tolerance(kExact));
  BOOST_TEST(model.pass(16, 2).backward_s == 0.065, boost::test_tools::tolerance(kExact));
  BOOST_TEST(model.pass(128, 1).backward_s == 0.26, boost::test_tools::tolerance(kExact));
}

BOOST_AUTO_TEST_CASE(memory_of_an_unprofiled_batch_is_that_of_the_next_larger) {
  const TypeModel model(measured());
  BOOST_TEST(model.max_streams(8) == 6);
  BOOST_TEST(model.max_streams(32) == 6);
  BOOST_TEST(model.max_streams(33) == 1);  // what was measured at 64
  BOOST_TEST(model.max_streams(64) == 1);
  BOOST_TEST(model.max_streams(65) == 0);
}

// T = D + (D+F+K)·a + F + max(K, R_hidden) + R_last + U, with a = 2: 0.01 + 0.22 + 0.03 + max +
// 0.02 + 0.005.
BOOST_AUTO_TEST_CASE(step_time_by_hand) {
  const TypeModel model(measured());
  BOOST_TEST(model.step_s(32, {1, 2}, {0.01, 0.02}) == 0.355, boost::test_tools::tolerance(kExact));
  BOOST_TEST(model.step_s(32, {1, 2}, {0.50, 0.02}) == 0.785, boost::test_tools::tolerance(kExact));
}

BOOST_AUTO_TEST_CASE(times_never_fall_when_batch_or_streams_grow) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    const Profile profile = fixtures::random_profile(random);
    for (const auto& [name, type] : profile.types) {
      const TypeModel model(type);
      for (std::int64_t b = 4; b <= 20; ++b)
        for (int v = 1; v <= 6; ++v) {
          const PassTimes small = model.pass(b, v), wider = model.pass(b, v + 1),
                          longer = model.pass(b + 1, v);
          BOOST_TEST_REQUIRE(both(small) > 0, "seed " << seed);
          const auto least = [&](double x) { return x * (1 - 1e-12); };
          BOOST_TEST_REQUIRE(both(wider) >= least(both(small)), "seed " << seed);
          BOOST_TEST_REQUIRE(both(longer) >= least(both(small)), "seed " << seed);
          BOOST_TEST_REQUIRE(longer.data_s >= least(small.data_s), "seed " << seed);
        }
    }
  }
}

// Streams on the measured network bring what was measured: 12–18 % at a local batch of 32.
BOOST_AUTO_TEST_CASE(streams_bring_what_was_measured_on_a_real_network) {
  const ThroughputModel model(fixtures::resnet50());
  const TypeModel& p100 = *model.find("p100");
  const double n4 = 4 * both(p100.pass(32, 1)) / both(p100.pass(32, 4));
  BOOST_TEST(n4 > 1.08);
  BOOST_TEST(n4 < 1.18);
  BOOST_TEST(model.find("h100") == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
