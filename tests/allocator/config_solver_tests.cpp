#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "allocator/config_solver.h"
#include "allocator/error.h"
#include "allocator/throughput_model.h"
#include "tests/allocator/profile_fixtures.h"

namespace jabas {
namespace {

struct Optimum {
  double step_s = std::numeric_limits<double>::infinity();
  int streams = 0, accum_steps = 0;
};

// Every (V, a) on every GPU.
class Exhaustive {
 public:
  Exhaustive(const RankedGpus& gpus, std::int64_t local_batch, const ThroughputModel& model)
      : gpus_(gpus),
        local_batch_(local_batch),
        model_(model),
        all_reduce_(fixtures::all_reduce(model, gpus, local_batch)) {}

  Optimum find(int workers) {
    best_ = {};
    visit(0, workers, {0, 0, 0});
    return best_;
  }

 private:
  void visit(std::size_t rank, int left, const Optimum& so_far) {
    if (rank == gpus_.types.size()) {
      if (left == 0 && better(so_far)) best_ = so_far;
      return;
    }
    const TypeModel& type = *model_.find(gpus_.types[rank]);
    for (int v = 1; v <= type.max_streams(local_batch_); ++v)
      for (int a = 0; v * (a + 1) <= left; ++a)
        visit(rank + 1, left - v * (a + 1),
              {std::max(so_far.step_s, type.step_s(local_batch_, {v, a}, all_reduce_)),
               so_far.streams + v, so_far.accum_steps + a});
  }
  bool better(const Optimum& other) const {
    if (other.step_s < best_.step_s * (1 - 1e-12)) return true;
    if (other.step_s > best_.step_s * (1 + 1e-12)) return false;
    return std::pair(other.streams, other.accum_steps) <
           std::pair(best_.streams, best_.accum_steps);
  }

  const RankedGpus& gpus_;
  std::int64_t local_batch_;
  const ThroughputModel& model_;
  AllReduceTimes all_reduce_;
  Optimum best_;
};

int workers_of(const Configuration& configuration) {
  int sum = 0;
  for (const GpuShare& share : configuration.shares) sum += share.workers();
  return sum;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(config_solver_tests)

// Both rule sets, units of one to three GPUs, up to four types, gaps in the profiled V.
BOOST_AUTO_TEST_CASE(equals_plain_enumeration) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  const auto whole = [&](int from, int to) {
    return std::uniform_int_distribution<>(from, to)(random);
  };
  int feasible = 0, infeasible = 0;
  for (int instance = 0; instance < 30000; ++instance) {
    Profile profile = fixtures::random_profile(random);
    profile.types["d"] = fixtures::random_profile(random).types["a"];
    const ThroughputModel model(profile, {whole(0, 1) == 1, whole(0, 1) == 1});
    RankedGpus gpus{{}, whole(1, 3), whole(1, 3)};
    for (int i = whole(1, 4); i > 0; --i)
      gpus.types.push_back(std::string(1, char('a' + whole(0, 3))));
    const int workers = int(gpus.types.size()) + whole(0, 7), local_batch = whole(8, 16);
    const Solution solution = solve(gpus, local_batch, workers * gpus.unit, model);
    const Optimum expected = Exhaustive(gpus, local_batch, model).find(workers);
    const std::string where =
        "seed " + std::to_string(seed) + " instance " + std::to_string(instance);
    BOOST_TEST_REQUIRE(solution.configuration.has_value() == std::isfinite(expected.step_s), where);
    if (!solution.configuration) {
      BOOST_TEST_REQUIRE(!solution.reason.empty());
      ++infeasible;
      continue;
    }
    ++feasible;
    const Configuration& found = *solution.configuration;
    BOOST_TEST_REQUIRE(std::abs(found.step_s / expected.step_s - 1) < 1e-12, where);
    BOOST_TEST_REQUIRE(found.virtual_workers == workers * gpus.unit);
    BOOST_TEST_REQUIRE(workers_of(found) == workers);
    int streams = 0, accum_steps = 0;
    double slowest_s = 0;
    const AllReduceTimes all_reduce = fixtures::all_reduce(model, gpus, local_batch);
    for (std::size_t rank = 0; rank < found.shares.size(); ++rank) {
      const TypeModel& type = *model.find(gpus.types[rank]);
      BOOST_TEST_REQUIRE(found.shares[rank].streams <= type.max_streams(local_batch));
      streams += found.shares[rank].streams;
      accum_steps += found.shares[rank].accum_steps;
      slowest_s = std::max(slowest_s, type.step_s(local_batch, found.shares[rank], all_reduce));
    }
    BOOST_TEST_REQUIRE(std::abs(slowest_s / found.step_s - 1) < 1e-9, where);
    BOOST_TEST_REQUIRE(streams == expected.streams, where);
    BOOST_TEST_REQUIRE(accum_steps == expected.accum_steps, where);
  }
  BOOST_TEST(feasible > 15000);
  BOOST_TEST(infeasible > 2000);
}

BOOST_AUTO_TEST_CASE(workers_that_units_cannot_share_are_infeasible) {
  const Profile profile = fixtures::two_speeds();
  const Solution odd = solve({{"v100", "v100"}, 1, 2}, 8, 7, profile);
  BOOST_TEST(!odd.configuration);
  BOOST_TEST(odd.reason == "7 virtual workers cannot be shared out to units of 2 GPUs");
  BOOST_TEST(solve({{"v100", "v100"}, 1, 2}, 8, 3, profile).reason ==
             "3 virtual workers are fewer than 4 GPUs");
  const Solution even = solve({{"v100", "v100"}, 1, 2}, 8, 8, profile);
  BOOST_TEST(even.configuration->virtual_workers == 8);
  BOOST_TEST(even.configuration->shares.size() == 2u);
}

// v100 twice as fast as p100: 2:1.
BOOST_AUTO_TEST_CASE(a_faster_gpu_runs_more_workers) {
  const Solution solution = solve({{"p100", "v100"}, 1}, 8, 6, fixtures::two_speeds());
  BOOST_REQUIRE(solution.configuration);
  BOOST_TEST(solution.configuration->shares[0].workers() == 2);
  BOOST_TEST(solution.configuration->shares[1].workers() == 4);
  // 4 workers of 8 samples at 1 ms each; streams bring nothing here, so one of them with 3
  // accumulation steps.
  BOOST_TEST(solution.configuration->step_s == 0.032, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(solution.configuration->shares[1].streams == 1);
  BOOST_TEST(solution.configuration->shares[1].accum_steps == 3);
  BOOST_TEST(solution.configuration->samples_per_s() == 1500, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(another_equal_gpu_never_makes_a_step_slower) {
  const Profile profile = fixtures::two_speeds();
  for (int workers = 8; workers <= 40; ++workers) {
    double before_s = std::numeric_limits<double>::infinity();
    for (int gpus = 1; gpus <= 8; ++gpus) {
      const Solution solution =
          solve({std::vector<std::string>(std::size_t(gpus), "p100"), 1}, 16, workers, profile);
      BOOST_TEST_REQUIRE(solution.configuration->step_s <= before_s);
      before_s = solution.configuration->step_s;
    }
  }
}

BOOST_AUTO_TEST_CASE(many_gpus_and_workers_are_solved_exactly) {
  RankedGpus gpus{{}, 32};
  for (int i = 0; i < 64; ++i) gpus.types.push_back(i % 2 ? "v100" : "p100");
  const Solution solution = solve(gpus, 8, 3 * 32 * 20, fixtures::two_speeds());
  BOOST_TEST(workers_of(*solution.configuration) == 1920);
  BOOST_TEST(solution.configuration->step_s == 40 * 8e-3, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(infeasible_is_a_value_with_a_reason) {
  const Profile profile = fixtures::two_speeds();
  BOOST_TEST(solve({{}, 0}, 8, 2, profile).reason == "no GPU");
  BOOST_TEST(solve({{"t4"}, 1}, 8, 2, profile).reason == "the profile has no GPU type t4");
  BOOST_TEST(solve({{"v100", "v100"}, 1}, 8, 1, profile).reason ==
             "1 virtual workers are fewer than 2 GPUs");
  BOOST_TEST(solve({{"v100"}, 1}, 128, 1, profile).reason ==
             "local batch 128 is not known to fit into the memory of every GPU");
  BOOST_TEST(solve({{"v100"}, 1}, 0, 1, profile).reason == "local batch 0 is below 1");
  BOOST_TEST(!solve({{"v100"}, 1}, 0, 1, profile).configuration);
}

BOOST_AUTO_TEST_CASE(ranks_are_in_name_order_with_nodes_counted) {
  const RankedGpus gpus = ranked({{"v100", 3}, {"p100", 2}, {"t4", 1}}, fixtures::two_speeds());
  BOOST_TEST(gpus.types == (std::vector<std::string>{"p100", "p100", "t4", "v100", "v100", "v100"}),
             boost::test_tools::per_element());
  BOOST_TEST(gpus.nodes == 1 + 1 + 2);
}

BOOST_AUTO_TEST_CASE(an_even_split_gives_the_first_ranks_one_more) {
  const Configuration split = even_split(3, 32, 8);
  BOOST_TEST(split.shares[0].streams == 3);
  BOOST_TEST(split.shares[1].streams == 3);
  BOOST_TEST(split.shares[2].streams == 2);
  BOOST_TEST(split.shares[2].accum_steps == 0);
  BOOST_TEST(split.virtual_workers == 8);
}

// D + (D+F+K)·a + F + K, in proportion to b·V here: 16·2 samples at 2 ms, three passes.
BOOST_AUTO_TEST_CASE(compute_time_has_no_all_reduce_and_no_update) {
  const Profile profile = fixtures::two_speeds();
  BOOST_TEST(compute_time_s(profile, "p100", 16, 2, 2) == 3 * 0.064,
             boost::test_tools::tolerance(1e-12));
  BOOST_CHECK_EXCEPTION(
      compute_time_s(profile, "t4", 16, 1, 0), InputError, [](const InputError& error) {
        return std::string(error.what()) ==
               "two speeds: types.t4: is missing: the profile has no times for this GPU type";
      });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
