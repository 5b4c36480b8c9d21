// Training with readers gives the same bits as without.
#include <boost/test/unit_test.hpp>

#include "tests/elastic_runner/data_files.h"
#include "tests/elastic_runner/engine_fixture.h"
#include "tests/support/complaint.h"

namespace jabas {
namespace {

using namespace testing;

struct Fixture : EngineFixture {
  // With every hint right but one.
  Result train_with(EngineOptions options, int readers, const Placement& placement,
                    const std::vector<Slices>& steps) const {
    options.reading.readers = readers;
    return train(options, placement, steps, [&](int rank, StepPlan& plan) {
      const auto next = static_cast<std::size_t>(plan.step);
      if (next < steps.size())
        plan.next_slices =
            plan_for(placement, rank, steps[next == 2 ? 0 : next], plan.step + 1).slices;
    });
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(reading_tests, Fixture)

BOOST_AUTO_TEST_CASE(readers_change_no_bit) {
  const TempDir dir;
  write_cifar10(dir.path(), 20);
  EngineOptions options = this->options("cnn", "fp32");
  options.dataset = "cifar10";
  options.data_dir = dir.path();
  options.reading.augment = true;
  std::vector<Slices> steps;
  for (std::int64_t step = 0; step < 4; ++step)
    steps.push_back(consecutive({4, 4, 4, 4, 3, 3}, 22 * step));
  for (const Placement& placement :
       {Placement{{1, 5}}, Placement{{2, 2}}, Placement{{6, 0}}, Placement{{2, 1}, {1, 1}}}) {
    const Result without = train_with(options, 0, placement, steps);
    for (const int readers : {1, 2}) {
      const Result with = train_with(options, readers, placement, steps);
      for (std::size_t rank = 0; rank < placement.size(); ++rank) {
        BOOST_TEST(difference(with.states[rank], without.states[rank]) == 0);
        BOOST_TEST(with.outcomes[rank].back().loss == without.outcomes[rank].back().loss);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(only_what_a_step_used_is_reported_as_read) {
  EngineOptions options = this->options("mlp", "fp32");
  std::vector<std::int64_t> read;
  options.on_read = [&](std::int64_t, const std::vector<std::int64_t>& samples) {
    read.insert(read.end(), samples.begin(), samples.end());
  };
  train_with(options, 1, {{1, 1}}, {consecutive({2, 2}), consecutive({2, 1}, 4)});
  BOOST_TEST(read == (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_reader_s_error_ends_the_step_and_names_the_file) {
  EngineOptions options = this->options("gpt", "fp32");
  const TempDir dir;
  std::vector<std::uint16_t> tokens(100, 7);
  for (const char* name : {"train.bin", "test.bin"}) write_file(dir / name, bytes_of(tokens));
  tokens[70] = 999;
  write_file(dir / "train.bin", bytes_of(tokens));
  options.dataset = "tokens";
  options.data_dir = dir.path();
  options.sequence_length = 8;
  options.reading.vocabulary = 64;
  for (const int readers : {0, 2}) {
    options.reading.readers = readers;
    const auto mine = engine(options, {2, 0});
    const auto communicator = solo();
    const Placement placement{{2, 0}};
    StepPlan plan = plan_for(placement, 0, consecutive({2, 2}), 1);
    plan.next_slices = consecutive({2, 3}, 6);
    mine->train_step(plan, *communicator);
    BOOST_TEST(complaint_of([&] {
                 mine->train_step(plan_for(placement, 0, consecutive({2, 3}, 6), 2), *communicator);
               }) == (dir / "train.bin").string() +
                         ": token 999 at position 70, accepted are 0..63 (--vocabulary)");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
