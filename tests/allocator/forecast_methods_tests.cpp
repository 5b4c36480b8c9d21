#include <boost/test/unit_test.hpp>
#include <cmath>
#include <tuple>

#include "allocator/error.h"
#include "allocator/forecast_methods.h"
#include "tests/support/forecast_families.h"

namespace jabas {
namespace {

using forecast_families::bounds_of;
using forecast_families::mape;
using forecast_families::run_of;
using forecast_families::Setting;

constexpr ForecastMethod kMethods[] = {ForecastMethod::kLast, ForecastMethod::kPaper,
                                       ForecastMethod::kDefault};

// One record every `gap` steps.
BatchHistory history_of(const std::vector<double>& batches, std::int64_t gap = 100) {
  BatchHistory history;
  for (const double batch : batches)
    history.records.push_back({std::int64_t(history.records.size() + 1) * gap, batch});
  history.horizon_steps = double(10 * gap);
  return history;
}

std::vector<std::int64_t> next_steps(const BatchHistory& history, int count,
                                     std::int64_t gap = 100) {
  std::vector<std::int64_t> steps;
  for (int i = 1; i <= count; ++i) steps.push_back(history.records.back().step + i * gap);
  return steps;
}

std::vector<double> default_forecast(const BatchHistory& history, int count,
                                     std::int64_t gap = 100) {
  return forecast(history, next_steps(history, count, gap), {}, ForecastMethod::kDefault).batches;
}

std::vector<double> line(int count, double from = 300, double slope = 20) {
  std::vector<double> batches;
  for (int i = 0; i < count; ++i) batches.push_back(from + slope * i + 0.5);
  return batches;
}

struct Paired {
  double last = 0, own = 0, difference = 0, error = 0;  // means; standard error of the difference
};

Paired paired(const Setting& setting, ForecastMethod method, int draws, std::uint64_t seed) {
  Paired result;
  double squares = 0;
  for (int i = 0; i < draws; ++i) {
    const auto run = run_of(setting, seed + std::uint64_t(i));
    const BatchBounds bounds = bounds_of(setting);
    const double last = mape(run, ForecastMethod::kLast, bounds), own = mape(run, method, bounds);
    result.last += last / draws;
    result.own += own / draws;
    squares += (own - last) * (own - last);
  }
  result.difference = result.own - result.last;
  const double variance = squares / draws - result.difference * result.difference;
  result.error = std::sqrt(std::max(0.0, variance) / (draws - 1));
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(forecast_methods_tests)

BOOST_AUTO_TEST_CASE(a_constant_history_stays_constant) {
  for (const double batch : {512.0, 333.25})
    for (const int count : {1, 2, 8, 60})
      for (const ForecastMethod method : kMethods) {
        const BatchHistory history = history_of(std::vector<double>(std::size_t(count), batch));
        for (const double found : forecast(history, next_steps(history, 20), {}, method).batches)
          BOOST_TEST(found == batch, boost::test_tools::tolerance(1e-12));
      }
}

BOOST_AUTO_TEST_CASE(a_line_and_a_geometric_ramp_go_on) {
  const BatchHistory straight = history_of(line(40));
  BOOST_TEST(default_forecast(straight, 10).back() == 300.5 + 20 * 49,
             boost::test_tools::tolerance(0.03));
  std::vector<double> ramp;
  for (int i = 0; i < 40; ++i) ramp.push_back(100 * std::pow(1.03, i));
  BOOST_TEST(default_forecast(history_of(ramp), 10).back() == 100 * std::pow(1.03, 49),
             boost::test_tools::tolerance(0.04));
}

BOOST_AUTO_TEST_CASE(batches_on_a_grid_are_forecast_on_it) {
  std::vector<double> steps;
  for (int i = 0; i < 40; ++i) steps.push_back(256 + 64 * (i / 5));
  const std::vector<double> found = default_forecast(history_of(steps), 10);
  BOOST_TEST(found.back() == 256 + 64 * (49 / 5));
  for (const double batch : found) BOOST_TEST(std::fmod(batch, 64) == 0);
}

BOOST_AUTO_TEST_CASE(a_trend_that_has_halted_is_not_prolonged) {
  std::vector<double> batches;
  for (int i = 0; i < 40; ++i) batches.push_back(4096 - 90 * i);
  for (int i = 0; i < 4; ++i) batches.push_back(batches.back());
  for (const double found : default_forecast(history_of(batches), 20))
    BOOST_TEST(found == batches.back());
}

BOOST_AUTO_TEST_CASE(too_few_records_mean_the_last_value) {
  for (int count = 1; count < 8; ++count) {
    const BatchHistory history = history_of(line(count));
    const Forecast found = forecast(history, next_steps(history, 3), {}, ForecastMethod::kDefault);
    BOOST_TEST(found.method == "last value");
    for (const double batch : found.batches) BOOST_TEST(batch == history.records.back().batch);
  }
}

BOOST_AUTO_TEST_CASE(the_unit_of_batches_and_the_interval_do_not_matter) {
  const auto run = run_of({.family = "linear", .noise = 0.03}, 7);
  BatchHistory once, scaled, stretched;
  for (const BatchRecord& record : run.records) {
    if (once.records.size() == 60) break;
    once.records.push_back(record);
    scaled.records.push_back({record.step, 8 * record.batch});
    stretched.records.push_back({7 * record.step, record.batch});
  }
  once.horizon_steps = scaled.horizon_steps = 1000;
  stretched.horizon_steps = 7000;
  const auto expected = default_forecast(once, 10), eightfold = default_forecast(scaled, 10),
             slow = default_forecast(stretched, 10, 700);
  BOOST_TEST(expected.back() != once.records.back().batch);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    BOOST_TEST(eightfold[i] == 8 * expected[i], boost::test_tools::tolerance(1e-9));
    BOOST_TEST(slow[i] == expected[i], boost::test_tools::tolerance(1e-9));
  }
}

BOOST_AUTO_TEST_CASE(uneven_steps_are_no_hindrance) {
  BatchHistory history;
  std::int64_t step = 0;
  for (int i = 0; i < 60; ++i) {
    step += 37 + (i * 29) % 90;
    history.records.push_back({step, 300 + 0.2 * double(step)});
  }
  history.horizon_steps = 800;
  const double found =
      forecast(history, {step + 800}, {}, ForecastMethod::kDefault).batches.front();
  BOOST_TEST(found == 300 + 0.2 * double(step + 800), boost::test_tools::tolerance(0.03));
}

BOOST_AUTO_TEST_CASE(between_adjustments_the_batch_stays) {
  const BatchHistory history = history_of(line(40));
  const std::int64_t last = history.records.back().step;
  const auto found =
      forecast(history, {last + 100, last + 199, last + 200}, {}, ForecastMethod::kDefault).batches;
  BOOST_TEST(found[0] == found[1]);
  BOOST_TEST(found[1] < found[2]);
}

BOOST_AUTO_TEST_CASE(forecasts_are_finite_and_inside_the_bounds) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937_64 random(seed);
  const BatchBounds bounds{64, 2048};
  for (int round = 0; round < 400; ++round) {
    BatchHistory history;
    std::int64_t step = 0;
    for (unsigned n = 1 + random() % 30; n > 0; --n) {
      step += 1 + std::int64_t(random() % (round % 2 ? 1'000'000 : 3));
      history.records.push_back({step, std::exp(double(random() % 600) / 10 - 20)});
    }
    history.last_epoch_after = std::int64_t(random() % 100);
    history.horizon_steps = double(random() % 10'000);
    for (const ForecastMethod method : kMethods)
      for (const double found :
           forecast(history, {step + 1, step + 1'000'000'000}, bounds, method).batches)
        BOOST_TEST((found >= 64 && found <= 2048), found);
  }
}

BOOST_AUTO_TEST_CASE(paper_is_the_mean_of_the_last_epoch_and_smoothing) {
  BatchHistory history = history_of({256, 320, 256, 320, 256, 256});
  history.last_epoch_after = 400;
  // Without a trend the best smoothing of the six is their mean: (256 + 277.333) / 2.
  BOOST_TEST(forecast(history, {700}, {}, ForecastMethod::kPaper).batches[0] == 266.666667,
             boost::test_tools::tolerance(1e-3));
}

BOOST_AUTO_TEST_CASE(a_name_for_each_method) {
  BOOST_CHECK(parse_forecast_method("paper") == ForecastMethod::kPaper);
  BOOST_CHECK_THROW(parse_forecast_method("holt"), UsageError);
}

BOOST_AUTO_TEST_CASE(trends_are_forecast_better_than_by_the_last_value) {
  constexpr std::uint64_t kSeed = 4242;
  for (const char* family :
       {"linear", "geometric", "saturating", "stops linear", "stops geometric"})
    for (const auto& [from, to, length, records] :
         {std::tuple{300.0, 2000.0, 90.0, 15.0}, std::tuple{3000.0, 800.0, 70.0, 6.0}})
      for (const double noise : {0.02, 0.05}) {
        const Paired found = paired({.family = family,
                                     .from = from,
                                     .to = to,
                                     .length = length,
                                     .noise = noise,
                                     .records_per_epoch = records},
                                    ForecastMethod::kDefault, 20, kSeed);
        BOOST_TEST(found.difference < -2 * found.error,
                   family << " " << from << " noise " << noise << ": last " << found.last
                          << ", default " << found.own << " ± " << found.error);
      }
}

BOOST_AUTO_TEST_CASE(without_a_trend_not_worse_than_the_last_value) {
  constexpr std::uint64_t kSeed = 4242;
  std::vector<Setting> settings;
  for (const double records : {6.0, 15.0, 30.0}) {
    for (const double noise : {0.02, 0.1})
      settings.push_back({.family = "constant", .noise = noise, .records_per_epoch = records});
    for (const char* walk : {"walk", "gaussian walk"})
      settings.push_back({.family = walk, .from = 1024, .records_per_epoch = records});
  }
  for (const Setting& setting : settings) {
    const Paired found = paired(setting, ForecastMethod::kDefault, 20, kSeed);
    BOOST_TEST(found.difference <= 2 * found.error + 1e-9,
               setting.family << " noise " << setting.noise << ": last " << found.last
                              << ", default " << found.own << " ± " << found.error);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
