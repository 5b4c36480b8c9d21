// The choice of (b, N) for a wanted global batch.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <random>

#include "allocator/batch_choice.h"
#include "tests/allocator/profile_fixtures.h"

namespace jabas {
namespace {

std::int64_t batch_of(const BatchChoice& choice) {
  return choice.configuration->local_batch * choice.configuration->virtual_workers;
}

RankedGpus gpus(const Profile& profile, int v100, int p100) {
  return ranked(normalized({{"v100", v100}, {"p100", p100}}), profile);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(batch_choice_tests)

BOOST_AUTO_TEST_CASE(takes_the_fastest_of_all_within_the_tolerance) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  const auto whole = [&](int from, int to) {
    return std::uniform_int_distribution<>(from, to)(random);
  };
  int fitting = 0, clamped = 0;
  for (int round = 0; round < 300; ++round) {
    const Profile profile = fixtures::random_profile(random);
    const ThroughputModel model(profile, {whole(0, 1) == 1, false});
    RankedGpus set{{}, whole(1, 3), whole(1, 2)};
    for (int i = whole(1, 4); i > 0; --i)
      set.types.push_back(std::string(1, char('a' + whole(0, 2))));
    const double wanted = whole(20, 400);
    const BatchChoice choice = choose_batch_on(wanted, set, BatchRules{}, model);
    double fastest = 0, nearest = 1e9;
    for (std::int64_t b = 8; b <= 16; ++b)
      for (std::int64_t n = std::max<std::int64_t>(2, std::int64_t(set.types.size()) * set.unit);
           n <= 60; ++n) {
        const Solution solution = solve(set, b, n, model);
        if (!solution.configuration) continue;
        nearest = std::min(nearest, std::abs(std::log(double(b * n) / wanted)));
        if (std::abs(double(b * n) / wanted - 1) <= 0.025 + 1e-12)
          fastest = std::max(fastest, solution.configuration->samples_per_s());
      }
    BOOST_TEST_REQUIRE(choice.configuration.has_value() == (nearest < 1e9), "seed " << seed);
    if (!choice.configuration) continue;
    BOOST_TEST_REQUIRE(
        choice.configuration->step_s == solve(set, choice.configuration->local_batch,
                                              choice.configuration->virtual_workers, model)
                                            .configuration->step_s,
        boost::test_tools::tolerance(1e-12));
    if (fastest > 0) {
      ++fitting;
      BOOST_TEST_REQUIRE(!choice.clamped);
      BOOST_TEST_REQUIRE(choice.configuration->samples_per_s() == fastest,
                         boost::test_tools::tolerance(2e-9));
    } else {
      ++clamped;
      BOOST_TEST_REQUIRE(choice.clamped, "seed " << seed);
      BOOST_TEST_REQUIRE(std::abs(std::log(double(batch_of(choice)) / wanted)) == nearest,
                         boost::test_tools::tolerance(1e-9));
    }
  }
  BOOST_TEST(fitting > 0);
  BOOST_TEST(clamped > 0);
}

// The reference takes the profiled local batch with the highest throughput, whatever batch its
// rounded N gives: a batch that should grow by 10 % grows by anything.
BOOST_AUTO_TEST_CASE(the_batch_does_not_drift_as_the_reference_lets_it) {
  const Profile profile = fixtures::resnet50();
  const ThroughputModel model(profile);
  double worst_reference = 0, worst = 0;
  for (const auto& [v100, p100] : {std::pair(2, 0), std::pair(2, 2), std::pair(4, 4)})
    for (double wanted = 280; wanted < 4000; wanted *= 1.03) {
      const RankedGpus set = gpus(profile, v100, p100);
      Configuration reference;
      for (const std::int64_t b : {32, 64, 96, 128}) {
        const std::int64_t pairs = std::llround(wanted / double(2 * b));
        const Solution solution = solve(set, b, 2 * pairs, model);
        if (solution.configuration &&
            solution.configuration->samples_per_s() > reference.samples_per_s())
          reference = *solution.configuration;
      }
      const double drift = double(reference.local_batch * reference.virtual_workers) / wanted - 1;
      worst_reference = std::max(worst_reference, std::abs(drift));
      const BatchChoice choice = choose_batch_on(wanted, set, {}, model);
      BOOST_TEST(!choice.clamped);
      worst = std::max(worst, std::abs(double(batch_of(choice)) / wanted - 1));
    }
  BOOST_TEST(worst_reference > 0.2);
  BOOST_TEST(worst <= kBatchTolerance + 1e-9);
}

BOOST_AUTO_TEST_CASE(a_chooser_answers_every_batch_as_a_new_one_does) {
  const Profile profile = fixtures::resnet50();
  const ThroughputModel model(profile);
  const RankedGpus set = gpus(profile, 4, 3);
  BatchChooser chooser(set, {.current_local_batch = 40}, model);
  for (double wanted = 100; wanted < 5000; wanted *= 1.37) {
    const BatchPoint point = chooser.point(wanted);
    const BatchChoice choice = choose_batch_on(wanted, set, {.current_local_batch = 40}, model);
    BOOST_TEST(point.local_batch == choice.configuration->local_batch);
    BOOST_TEST(point.virtual_workers == choice.configuration->virtual_workers);
    BOOST_TEST(point.step_s == choice.configuration->step_s);
    BOOST_TEST(point.clamped == choice.clamped);
  }
}

BOOST_AUTO_TEST_CASE(equal_throughput_keeps_the_current_local_batch) {
  const Profile profile =
      fixtures::two_speeds();  // everything is equally fast where it divides evenly
  BatchRules rules{.batch_min = 128, .batch_max = 1024};
  for (const std::int64_t current : {8, 16, 32, 64}) {
    rules.current_local_batch = current;
    const BatchChoice choice = choose_batch(512, gpus(profile, 2, 0), rules, &profile);
    BOOST_TEST(choice.configuration->local_batch == current);
    BOOST_TEST(batch_of(choice) == 512);
  }
}

BOOST_AUTO_TEST_CASE(a_fixed_local_batch_stays) {
  const Profile profile = fixtures::resnet50();
  const BatchChoice choice =
      choose_batch(490, gpus(profile, 2, 2), {.fixed_local_batch = 40}, &profile);
  BOOST_TEST(choice.configuration->local_batch == 40);
  BOOST_TEST(!choice.clamped);
  BOOST_TEST(std::abs(double(batch_of(choice)) / 490 - 1) <= 0.025);
}

BOOST_AUTO_TEST_CASE(a_fixed_batch_is_met_exactly) {
  const Profile profile = fixtures::resnet50();
  const BatchRules rules{.batch_min = 512, .batch_max = 512};
  for (int v100 = 0; v100 <= 4; ++v100) {
    const BatchChoice choice = choose_batch(512, gpus(profile, v100, 4), rules, &profile);
    BOOST_TEST(batch_of(choice) == 512);
  }
}

BOOST_AUTO_TEST_CASE(the_wanted_batch_is_clipped_to_its_bounds) {
  const Profile profile = fixtures::resnet50();
  const BatchRules rules{.batch_min = 256, .batch_max = 512, .fixed_local_batch = 32};
  BOOST_TEST(batch_of(choose_batch(5000, gpus(profile, 2, 0), rules, &profile)) == 512);
  BOOST_TEST(batch_of(choose_batch(10, gpus(profile, 2, 0), rules, &profile)) == 256);
}

BOOST_AUTO_TEST_CASE(too_many_gpus_for_the_batch_clamp_and_say_so) {
  const Profile profile = fixtures::two_speeds();
  const BatchChoice choice =
      choose_batch(16, gpus(profile, 2, 2), {}, &profile);  // b ≥ 8 on 4 GPUs
  BOOST_TEST(choice.clamped);
  BOOST_TEST(batch_of(choice) == 32);
  BOOST_TEST(choice.reason ==
             "no local batch gives a global batch within 2.5 % of 16 with at least 4 virtual "
             "workers: nearest is 8×4 = 32");
}

BOOST_AUTO_TEST_CASE(an_adaptive_run_keeps_two_workers_on_one_gpu) {
  const Profile profile = fixtures::two_speeds();
  const BatchChoice two =
      choose_batch(64, gpus(profile, 1, 0), {.current_local_batch = 64}, &profile);
  BOOST_TEST(two.configuration->virtual_workers >= 2);
  const BatchChoice one = choose_batch(
      64, gpus(profile, 1, 0), {.current_local_batch = 64, .needs_two_workers = false}, &profile);
  BOOST_TEST(one.configuration->virtual_workers == 1);
}

BOOST_AUTO_TEST_CASE(memory_limits_hold_at_every_local_batch) {
  const Profile profile = fixtures::resnet50();
  for (const double wanted : {64., 300., 1000.}) {
    const RankedGpus set = gpus(profile, 2, 2);
    const Configuration found = *choose_batch(wanted, set, {}, &profile).configuration;
    for (std::size_t rank = 0; rank < set.types.size(); ++rank) {
      const auto& limits = profile.types.at(set.types[rank]).max_streams;
      BOOST_TEST(found.shares[rank].streams <= limits.lower_bound(found.local_batch)->second);
    }
  }
}

BOOST_AUTO_TEST_CASE(impossible_sets_say_why) {
  Profile profile = fixtures::two_speeds();
  BOOST_TEST(choose_batch(64, {{}, 0}, {}, &profile).reason == "no GPU");
  BOOST_TEST(choose_batch(64, {{"t4"}, 1}, {}, &profile).reason ==
             "the profile has no GPU type t4");
  BOOST_TEST(choose_batch(64, {{"v100"}, 1}, {.fixed_local_batch = 100}, &profile).reason ==
             "local batch 100 is not known to fit into the memory of every GPU");
  profile.types["t4"] = fixtures::proportional_type(1e-3, 1, 128, 256);
  BOOST_TEST(choose_batch(64, {{"t4", "v100"}, 2}, {}, &profile).reason ==
             "no local batch is profiled on every GPU type of the set");
}

BOOST_AUTO_TEST_CASE(without_a_profile_the_local_batch_stays_and_the_split_is_even) {
  const BatchChoice choice =
      choose_batch(200, {{"x", "y", "z"}, 1}, {.current_local_batch = 25}, nullptr);
  BOOST_TEST(choice.configuration->local_batch == 25);
  BOOST_TEST(choice.configuration->virtual_workers == 8);
  BOOST_TEST(choice.configuration->shares[0].streams == 3);
  BOOST_TEST(!choice.clamped);
  BOOST_TEST(choose_batch(210, {{"x"}, 1}, {.fixed_local_batch = 100}, nullptr).clamped);
  BOOST_TEST(choose_batch(200, {{"x"}, 1}, {}, nullptr).reason ==
             "no profile and no local batch given");
  BOOST_TEST(choose_batch(200, {{}, 0}, {.current_local_batch = 25}, nullptr).reason == "no GPU");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
