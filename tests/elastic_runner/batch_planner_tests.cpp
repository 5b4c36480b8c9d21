#include <boost/test/unit_test.hpp>

#include "allocator/progress.h"
#include "elastic_runner/batch_planner.h"

using namespace jabas;

namespace {

std::vector<PlanMember> members(const std::vector<std::string>& types) {
  std::vector<PlanMember> result;
  for (std::size_t i = 0; i < types.size(); ++i)
    result.push_back({"w." + std::to_string(i), types[i], "host"});
  return result;
}

// Type "fast" takes half the time of "slow" at every point.
Profile two_types() {
  Profile profile;
  for (const auto& [type, factor] : {std::pair{"fast", 1.0}, {"slow", 2.0}}) {
    TypeProfile& one = profile.types[type];
    one.max_streams = {{16, 2}, {32, 2}};
    for (std::int64_t b : {16, 32}) {
      for (int v : {1, 2}) {
        one.points.push_back(
            {b, v, 0, factor * 0.001 * double(b * v), factor * 0.002 * double(b * v), 0.001, 0, 0});
      }
    }
  }
  profile.bucket_bytes = {1e6};
  profile.intra = profile.inter = {1e9, {{0.0, 0.0}, {1.0, 1.0}}};
  return profile;
}

TrainingSpec spec_of(std::int64_t virtual_workers) {
  TrainingSpec spec;
  spec.virtual_workers = virtual_workers;
  spec.batch_min = spec.batch_max = spec.batch_initial = 32 * virtual_workers;
  return spec;
}

std::vector<int> workers_of(const Configuration& configuration) {
  std::vector<int> workers;
  for (const auto& share : configuration.shares) workers.push_back(share.workers());
  return workers;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(batch_planner_tests)

BOOST_AUTO_TEST_CASE(without_profile_the_split_is_even) {
  const auto spec = spec_of(8);
  const auto three = members({"", "", ""});
  const PlanResult result = plan_for_generation({spec, three}, RunState{}, true);
  BOOST_TEST_REQUIRE(result.plan.has_value());
  BOOST_TEST(workers_of(result.plan->configuration) == (std::vector<int>{3, 3, 2}),
             boost::test_tools::per_element());
  BOOST_TEST(result.plan->configuration.local_batch == 32);
}

BOOST_AUTO_TEST_CASE(a_table_decides_unless_a_worker_was_lost) {
  auto spec = spec_of(8);
  spec.workers_per_epoch = {2};
  spec.vsw = {{1}};
  spec.accum = {{3}};
  const auto two = members({"", ""}), one = members({""});
  const auto planned = plan_for_generation({spec, two}, RunState{}, true);
  BOOST_TEST(planned.plan->configuration.shares[1].streams == 1);
  BOOST_TEST(planned.plan->configuration.shares[1].accum_steps == 3);
  RunState state;
  state.local_batch = 32;
  state.virtual_workers = 8;
  const auto after_loss = plan_for_generation({spec, one}, state, true);
  BOOST_TEST_REQUIRE(after_loss.plan.has_value());
  BOOST_TEST(after_loss.plan->configuration.shares[0].workers() == 8);
}

BOOST_AUTO_TEST_CASE(with_profile_faster_gpus_run_more_virtual_workers) {
  const auto spec = spec_of(6);
  const auto profile = two_types();
  const auto mixed = members({"fast", "slow"});
  const auto result = plan_for_generation({spec, mixed, &profile}, RunState{}, false);
  BOOST_TEST_REQUIRE(result.plan.has_value(), result.reason);
  BOOST_TEST(workers_of(result.plan->configuration) == (std::vector<int>{4, 2}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(too_few_virtual_workers_is_a_value_with_a_reason) {
  const auto spec = spec_of(2);
  const auto three = members({"", "", ""});
  const auto result = plan_for_generation({spec, three}, RunState{}, false);
  BOOST_TEST(!result.plan.has_value());
  BOOST_TEST(result.reason ==
             "2 virtual workers cannot be spread over 3 workers: each needs at least one");
}

// A planned boundary follows the wanted batch; a recovery keeps (b, N).
BOOST_AUTO_TEST_CASE(adaptive_run_keeps_the_batch_only_after_a_loss) {
  auto spec = spec_of(4);
  spec.adaptive = true;
  spec.batch_max = 1024;
  RunState state;
  state.local_batch = 32;
  state.virtual_workers = 4;
  state.adaptive.wanted_batch = 256;
  const auto two = members({"", ""});
  BOOST_TEST(plan_for_generation({spec, two}, state, true).plan->configuration.virtual_workers ==
             4);
  BOOST_TEST(plan_for_generation({spec, two}, state, false).plan->configuration.virtual_workers ==
             8);
  BOOST_TEST(plan_for_batch({spec, two}, state).plan->configuration.virtual_workers == 8);
}

BOOST_AUTO_TEST_CASE(the_first_plan_of_an_adaptive_run_wants_the_initial_batch) {
  auto spec = spec_of(4);
  spec.adaptive = true;
  spec.batch_max = 1024;
  spec.batch_initial = 192;
  const auto two = members({"", ""});
  const auto result = plan_for_generation({spec, two}, RunState{}, true);
  BOOST_TEST_REQUIRE(result.plan.has_value(), result.reason);
  BOOST_TEST(result.plan->adaptive.wanted_batch == 192.0);
  BOOST_TEST(result.plan->configuration.virtual_workers == 6);
}

BOOST_AUTO_TEST_CASE(goodput_takes_the_batch_of_most_progress_per_second) {
  auto spec = spec_of(4);
  spec.adaptive = true;
  spec.batch_max = 1024;
  const auto profile = two_types();
  const auto mixed = members({"fast", "slow"});
  RunState state;
  state.local_batch = 32;
  state.virtual_workers = 4;
  for (const double trace : {10.0, 200.0, 3000.0, 50000.0}) {
    state.adaptive = with_measurement({}, {0.5, 1, trace});
    const GradientNoise noise{1, trace / double(spec.batch_min), double(spec.batch_min)};
    double most = 0, batch = 0;
    for (std::int64_t b = 16; b <= 32; ++b) {
      for (std::int64_t n = 2; b * n <= spec.batch_max; ++n) {
        if (b * n < spec.batch_min) continue;
        const auto solution = solve({{"fast", "slow"}, 1}, b, n, profile);
        const double rate = gain(double(b * n), noise) / solution.configuration->step_s;
        if (rate > most * (1 + 1e-9)) batch = double(b * n);
        most = std::max(most, rate);
      }
    }
    const GoodputBatch found = goodput_batch({spec, mixed, &profile}, state);
    BOOST_TEST(found.batch == batch, "trace " << trace << ": " << found.batch << ", " << batch);
  }
}

BOOST_AUTO_TEST_CASE(goodput_without_a_profile_is_a_reason) {
  const auto spec = spec_of(4);
  const auto two = members({"", ""});
  const GoodputBatch found = goodput_batch({spec, two}, RunState{});
  BOOST_TEST(found.batch == 0);
  BOOST_TEST(found.reason == "no profile of the GPUs in use");
}

BOOST_AUTO_TEST_CASE(a_profile_that_lacks_a_type_is_not_used) {
  const std::optional<Profile> profile = two_types();
  BOOST_TEST((usable_profile(profile, members({"fast"})) == &*profile));
  BOOST_TEST((usable_profile(profile, members({"fast", "other"})) == nullptr));
  BOOST_TEST((usable_profile(std::nullopt, members({"fast"})) == nullptr));
}

BOOST_AUTO_TEST_SUITE_END()
