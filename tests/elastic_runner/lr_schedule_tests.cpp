#include <boost/test/unit_test.hpp>
#include <cmath>
#include <random>

#include "allocator/error.h"
#include "elastic_runner/lr_schedule.h"

using namespace jabas;

namespace {

TrainingSpec spec_of(const std::string& schedule, double warmup_epochs = 0) {
  TrainingSpec spec;
  spec.lr_schedule = schedule;
  spec.warmup_epochs = warmup_epochs;
  spec.epochs = 10;
  spec.train_samples = 1000;
  return spec;
}

// Σ factor·samples over a run with batches from `next`.
template <typename Next>
double integral(const TrainingSpec& spec, Next next) {
  double sum = 0;
  const std::int64_t total = spec.epochs * spec.train_samples;
  for (std::int64_t seen = 0; seen < total;) {
    const std::int64_t batch = std::min<std::int64_t>(next(), total - seen);
    sum += schedule_factor(spec, double(seen) + double(batch) / 2) * double(batch);
    seen += batch;
  }
  return sum;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lr_schedule_tests)

BOOST_AUTO_TEST_CASE(warm_up_rises_linearly_and_then_is_over) {
  const TrainingSpec spec = spec_of("constant", 2);
  BOOST_TEST(schedule_factor(spec, 0) == 0.0);
  BOOST_TEST(schedule_factor(spec, 500) == 0.25);
  BOOST_TEST(schedule_factor(spec, 2000) == 1.0);
  BOOST_TEST(schedule_factor(spec, 10000) == 1.0);
  BOOST_TEST(schedule_factor(spec_of("constant"), 0) == 1.0);
}

BOOST_AUTO_TEST_CASE(step_falls_every_so_many_epochs_from_the_start) {
  TrainingSpec spec = spec_of("step", 1);
  spec.lr_step_epochs = 3;
  spec.lr_gamma = 0.5;
  BOOST_TEST(schedule_factor(spec, 500) == 0.5);  // still warming up
  BOOST_TEST(schedule_factor(spec, 2999) == 1.0);
  BOOST_TEST(schedule_factor(spec, 3000) == 0.5);
  BOOST_TEST(schedule_factor(spec, 9500) == 0.125);
}

BOOST_AUTO_TEST_CASE(cosine_falls_from_the_warm_up_to_the_end) {
  TrainingSpec spec = spec_of("cosine", 2);
  BOOST_TEST(schedule_factor(spec, 2000) == 1.0);
  BOOST_TEST(schedule_factor(spec, 6000) == 0.5, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(std::abs(schedule_factor(spec, 10000)) < 1e-12);
  spec.lr_end = 0.2;
  BOOST_TEST(schedule_factor(spec, 6000) == 0.6, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(schedule_factor(spec, 10000) == 0.2, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(schedule_factor(spec, 11000) == 0.2, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(polynomial_falls_with_its_power) {
  TrainingSpec spec = spec_of("polynomial");
  BOOST_TEST(schedule_factor(spec, 2500) == 0.75);
  spec.lr_power = 2;
  BOOST_TEST(schedule_factor(spec, 5000) == 0.25);
  spec.lr_end = 0.5;
  BOOST_TEST(schedule_factor(spec, 5000) == 0.625);
}

BOOST_AUTO_TEST_CASE(warm_up_may_take_the_whole_run) {
  BOOST_TEST(schedule_factor(spec_of("cosine", 10), 5000) == 0.5);
  BOOST_TEST(schedule_factor(spec_of("polynomial", 10), 10000) == 1.0);
}

// What a sample does to the weights must not hang on the size of the batch that it came in.
BOOST_AUTO_TEST_CASE(the_sum_over_a_run_does_not_depend_on_the_batch) {
  const std::uint32_t seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  for (const char* schedule : {"constant", "cosine", "polynomial"}) {
    const TrainingSpec spec = spec_of(schedule, 1);
    const double reference = integral(spec, [] { return 1; });
    for (const int batch : {7, 64, 200}) {
      const double sum = integral(spec, [&] { return batch; });
      BOOST_TEST(sum == reference, boost::test_tools::tolerance(1e-3));
    }
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> batches(1, 200);
    BOOST_TEST(integral(spec, [&] { return batches(random); }) == reference,
               boost::test_tools::tolerance(1e-3));
  }
}

BOOST_AUTO_TEST_CASE(unknown_name_lists_the_known_ones) {
  BOOST_CHECK_EXCEPTION(schedule_factor(spec_of("sine"), 1), UsageError,
                        [](const UsageError& error) {
                          return std::string(error.what()) ==
                                 "--lr-schedule=sine: accepted are constant, step, cosine and "
                                 "polynomial";
                        });
}

BOOST_AUTO_TEST_SUITE_END()
