// Reading ahead never changes what is read.
#include <ATen/ATen.h>

#include <atomic>
#include <boost/test/unit_test.hpp>

#include "elastic_runner/read_ahead.h"
#include "tests/elastic_runner/data_files.h"
#include "tests/elastic_runner/engine_fixture.h"
#include "tests/support/complaint.h"

namespace jabas {
namespace {

using namespace testing;

bool equal(const Batch& a, const Batch& b) {
  return a.inputs[0].equal(b.inputs[0]) && a.labels.equal(b.labels);
}

// Remembers what was asked for; sample 999 cannot be read. A batch is its samples and one draw.
class FakeLoader : public BatchLoader {
 public:
  DataShape shape() const override { return {}; }
  std::int64_t train_samples() const override { return 1000; }
  std::int64_t test_samples() const override { return 0; }
  Batch train(const std::vector<std::int64_t>& samples, RandomStream& random) const override {
    for (const auto sample : samples)
      if (sample == 999) throw InputError("file 999: damaged");
    ++reads;
    const auto draw = static_cast<std::int64_t>(random.next() >> 1);
    return {{at::tensor(samples, at::kLong)}, at::full({1}, draw, at::kLong)};
  }
  Batch test(const std::vector<std::int64_t>&) const override { return {}; }

  mutable std::atomic<int> reads = 0;
};

StepPlan plan_of(std::int64_t step, const Slices& slices, const Slices& next = {}) {
  StepPlan plan;
  plan.epoch = 1;
  plan.step = step;
  plan.slices = slices;
  plan.next_slices = next;
  return plan;
}

struct Fixture {
  // As the reader without threads gives it.
  Batch expected(const StepPlan& plan, std::size_t index) {
    ReadAhead direct(loader, 5, 0);
    direct.begin_step(plan, 1);
    return direct.take(plan, index);
  }
  bool reads_reach(int count) {
    return until([&] { return loader.reads >= count; });
  }
  static bool until(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }

  FakeLoader loader;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(read_ahead_tests, Fixture)

BOOST_AUTO_TEST_CASE(batches_are_those_of_a_direct_reader) {
  for (const int readers : {1, 2, 5}) {
    ReadAhead reader(loader, 5, readers);
    Slices present = consecutive({3, 3, 0, 2});
    for (std::int64_t step = 1; step <= 20; ++step) {
      const Slices next = consecutive({3, 3, 0, 2}, 20 * step);
      const StepPlan plan = plan_of(step, present, next);
      reader.begin_step(plan, 2);
      for (const std::size_t index : {1, 0, 3})
        BOOST_TEST(equal(reader.take(plan, index), expected(plan, index)));
      present = next;
    }
  }
}

BOOST_AUTO_TEST_CASE(the_next_step_is_read_meanwhile_and_only_once) {
  ReadAhead reader(loader, 5, 1);
  const StepPlan first = plan_of(1, consecutive({2}), consecutive({2}, 2)),
                 second = plan_of(2, consecutive({2}, 2));
  reader.begin_step(first, 1);
  reader.take(first, 0);
  BOOST_TEST(reads_reach(2));
  reader.begin_step(second, 1);
  BOOST_TEST(equal(reader.take(second, 0), expected(second, 0)));
  BOOST_TEST(loader.reads == 3);  // one of them by expected()
}

BOOST_AUTO_TEST_CASE(a_wrong_hint_is_only_lost_work) {
  ReadAhead reader(loader, 5, 1);
  const StepPlan first = plan_of(1, consecutive({2}), consecutive({2}, 2));
  reader.begin_step(first, 1);
  reader.take(first, 0);
  BOOST_TEST(reads_reach(2));
  for (StepPlan second : {plan_of(2, consecutive({3}, 2)), plan_of(3, consecutive({2}, 2))}) {
    reader.begin_step(second, 1);
    BOOST_TEST(equal(reader.take(second, 0), expected(second, 0)));
  }
  // Another virtual worker draws other numbers.
  StepPlan moved = plan_of(2, consecutive({2}, 2));
  moved.first_worker = 4;
  reader.begin_step(moved, 1);
  BOOST_TEST(equal(reader.take(moved, 0), expected(moved, 0)));
}

BOOST_AUTO_TEST_CASE(no_more_than_two_passes_for_each_stream_are_held) {
  ReadAhead reader(loader, 5, 3);
  const StepPlan plan = plan_of(1, consecutive(std::vector<std::int64_t>(50, 1)));
  reader.begin_step(plan, 2);
  BOOST_TEST(reads_reach(4));
  for (std::size_t index = 49; index >= 40; --index) reader.take(plan, index);  // by this thread
  BOOST_TEST(loader.reads == 14);
  for (std::size_t index = 0; index < 40; ++index) reader.take(plan, index);
  BOOST_TEST(loader.reads == 50);
}

BOOST_AUTO_TEST_CASE(an_error_comes_with_the_batch_that_needs_it) {
  ReadAhead reader(loader, 5, 1);
  const StepPlan first = plan_of(1, {{1}, {2}}, {{999}, {14}}), second = plan_of(2, {{999}, {14}});
  reader.begin_step(first, 1);
  reader.take(first, 0);
  reader.take(first, 1);
  BOOST_TEST(reads_reach(3));  // 14 was read behind the failure
  reader.begin_step(second, 1);
  BOOST_TEST(complaint_of([&] { reader.take(second, 0); }) == "file 999: damaged");
  BOOST_TEST(equal(reader.take(second, 1), expected(second, 1)));
  // A hint with an unreadable sample that is not used harms nobody.
  reader.begin_step(first, 1);
  reader.take(first, 0);
  reader.take(first, 1);
  const StepPlan other = plan_of(2, {{20}, {21}});
  reader.begin_step(other, 1);
  BOOST_TEST(equal(reader.take(other, 0), expected(other, 0)));
}

BOOST_AUTO_TEST_CASE(it_can_be_dropped_at_any_time) {
  for (int i = 0; i < 50; ++i) {
    ReadAhead reader(loader, 5, 2);
    const StepPlan plan = plan_of(1, consecutive({1, 1, 1}), consecutive({1, 1, 1}, 3));
    reader.begin_step(plan, 3);
    if (i % 2 == 0) reader.take(plan, 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
