// What calibration asks of the engine: real times, and a training that does not notice.
#include <boost/test/unit_test.hpp>

#include "tests/elastic_runner/engine_fixture.h"

using namespace jabas;
using namespace jabas::testing;

BOOST_AUTO_TEST_SUITE(measuring_tests)

// Bit by bit: dropout, BatchNorm's buffers, momentum, Adam's averages; between steps as well.
BOOST_FIXTURE_TEST_CASE(training_does_not_notice, EngineFixture) {
  for (const char* model : {"cnn", "gpt"}) {
    EngineOptions options = this->options(model, "fp32");
    options.optimizer.name = model == std::string("cnn") ? "sgd" : "adamw";
    std::int64_t reads = 0;
    options.on_read = [&](std::int64_t, const std::vector<std::int64_t>&) { ++reads; };
    const Placement placement{{2, 1}};
    const auto trained = [&](bool measuring) {
      const auto engine = this->engine(options, placement[0]);
      const auto communicator = solo();
      if (measuring) engine->measure(8, 1, 1);
      for (std::int64_t step = 1; step <= 3; ++step) {
        const StepPlan plan = plan_for(placement, 0, consecutive({4, 4, 4, 4}, 16 * step), step);
        engine->train_step(plan, *communicator);
        if (measuring) {
          engine->measure(4, 1, 2);
          engine->measure(6, 3, 1);
        }
      }
      return copy_state(*engine);
    };
    const Tensors plain = trained(false);
    const std::int64_t reads_of_training = std::exchange(reads, 0);
    const Tensors measured = trained(true);
    BOOST_TEST(reads == reads_of_training);
    BOOST_TEST(difference(measured, plain) == 0.0, model);
  }
}

BOOST_FIXTURE_TEST_CASE(times_and_sizes_are_there, EngineFixture) {
  const auto engine = this->engine(options("cnn", "fp32"), {1, 0});
  const StepTimes one = engine->measure(16, 1, 3);
  BOOST_TEST(one.data_s >= 0);
  BOOST_TEST(one.forward_s > 0);
  BOOST_TEST(one.backward_s > 0);
  BOOST_TEST(one.update_s > 0);
  BOOST_TEST(one.step_s >= one.backward_s);
  BOOST_TEST(engine->measure(16, 2, 1).update_s == 0);
  double bytes = 0;
  for (const double bucket : engine->bucket_bytes()) bytes += bucket;
  std::size_t weights = 0;
  for (const StateTensor& tensor : engine->state())
    if (tensor.name.starts_with("weight/")) weights += tensor.bytes;
  BOOST_TEST(bytes >= double(weights));
  BOOST_TEST(bytes <= 1.1 * double(weights) + 4096);
}

// The buckets' times are those of the whole, and the sizes those announced.
BOOST_FIXTURE_TEST_CASE(a_step_tells_the_time_of_each_bucket, EngineFixture) {
  const Result result = train(options("cnn", "fp32"), {{1, 0}, {1, 0}}, {consecutive({4, 4})});
  for (const auto& outcomes : result.outcomes) {
    double sum = 0;
    for (const BucketTime& bucket : outcomes[0].buckets) sum += bucket.all_reduce_s;
    BOOST_TEST(outcomes[0].buckets.size() > 1U);
    BOOST_TEST(sum > 0);
    BOOST_TEST(sum <= outcomes[0].times.all_reduce_s * 1.000001);
  }
}

BOOST_AUTO_TEST_SUITE_END()
