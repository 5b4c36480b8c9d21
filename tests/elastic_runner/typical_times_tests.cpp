#include <boost/test/unit_test.hpp>

#include "elastic_runner/typical_times.h"
#include "tests/elastic_runner/memory_communicator.h"

using namespace jabas;

namespace {

struct Fixture {
  Fixture() {
    generation.prepare.generation = 3;
    generation.prepare.members = {{"1.0", "v100", "n1"}};
    generation.communicator = std::make_unique<testing::MemoryCommunicator>(
        std::make_shared<testing::MemoryMesh>(1), 0, 1);
    generation.split = {32, 4, {{2, 1}}, 0};
  }
  std::vector<WorkerTimes> step(double forward_s, double all_reduce_s, bool typical = true) {
    StepOutcome outcome;
    outcome.typical = typical;
    outcome.times.forward_s = forward_s;
    outcome.buckets = {{100, all_reduce_s}, {200, 2 * all_reduce_s}};
    now += std::chrono::milliseconds(10);
    return times.add(generation, outcome, now);
  }
  ActiveGeneration generation;
  TypicalTimes times;
  Clock::time_point now{};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(typical_times_tests)

BOOST_FIXTURE_TEST_CASE(medians_of_the_steps, Fixture) {
  for (const double s : {1.0, 3.0, 2.0, 50.0, 2.0}) BOOST_TEST(step(s, s / 10).empty());
  BOOST_TEST(step(1000, 1000, /*typical=*/false).empty());
  const auto all = times.take();
  BOOST_TEST_REQUIRE(all.has_value());
  BOOST_TEST(all->generation == 3);
  BOOST_TEST(all->gpu_type == "v100");
  BOOST_TEST(all->local_batch == 32);
  BOOST_TEST(all->streams == 2);
  BOOST_TEST(all->accum_steps == 1);
  BOOST_TEST(all->steps == 5);
  BOOST_TEST(all->median.forward_s == 2.0);
  BOOST_TEST(all->buckets[0].bytes == 100.0);
  BOOST_TEST(all->buckets[1].all_reduce_s == 0.4);
  BOOST_TEST(!times.take().has_value());
}

BOOST_FIXTURE_TEST_CASE(another_batch_begins_another_stretch, Fixture) {
  step(1, 1);
  generation.split.local_batch = 64;
  const auto due = step(5, 1);
  BOOST_TEST_REQUIRE(due.size() == 1U);
  BOOST_TEST(due[0].local_batch == 32);
  BOOST_TEST(due[0].median.forward_s == 1.0);
  generation.prepare.generation = 4;
  BOOST_TEST(step(5, 1).size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(long_stretches_are_told_in_parts, Fixture) {
  step(1, 1);
  now += std::chrono::seconds(6);
  const auto due = step(1, 1);
  BOOST_TEST_REQUIRE(due.size() == 1U);
  BOOST_TEST(due[0].steps == 2);
  BOOST_TEST(!times.take().has_value());
}

BOOST_AUTO_TEST_SUITE_END()
