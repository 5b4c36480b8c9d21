// Trajectories with known forecasts of the reference.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>

#include "allocator/csv_table.h"
#include "allocator/forecast_methods.h"
#include "tests/support/cases.h"

namespace jabas {
namespace {

constexpr ForecastMethod kMethods[] = {ForecastMethod::kLast, ForecastMethod::kPaper,
                                       ForecastMethod::kDefault};

// Mean error by trajectory and method ("reference": the column ensemble_clip).
std::map<std::string, std::map<std::string, double>> oracle_errors() {
  const CsvTable past = CsvTable::read(cases_path("oracle/forecast_trajectories.csv")),
                 points = CsvTable::read(cases_path("oracle/forecast_reference.csv"));
  const auto key = [](const CsvTable& table, std::size_t row) {
    return table.text(row, table.column("trajectory")) + " " +
           table.text(row, table.column("dataset"));
  };
  std::map<std::string, std::map<std::string, double>> sums;
  for (std::size_t row = 0; row < points.rows(); ++row) {
    const auto number = [&](const std::string& column) {
      return points.number(row, points.column(column));
    };
    BatchHistory history;
    for (std::size_t i = 0; i < past.rows(); ++i) {
      const double epoch = past.number(i, past.column("epoch"));
      if (key(past, i) != key(points, row) || epoch > number("after_epoch")) continue;
      const std::int64_t step = past.integer(i, past.column("step"), 0, 1'000'000'000);
      history.records.push_back({step, past.number(i, past.column("gbs"))});
      if (epoch < number("after_epoch")) history.last_epoch_after = step;
    }
    history.horizon_steps = number("dataset") / history.records.back().batch;
    auto& sum = sums[key(points, row)];
    const double actual = number("actual_gbs");
    const std::string names[] = {"last", "paper", "default"};
    for (int m = 0; m < 3; ++m)
      sum[names[m]] += std::abs(
          forecast(history, {std::int64_t(number("x_pred_step"))}, {}, kMethods[m]).batches[0] /
              actual -
          1);
    sum["reference"] += std::abs(number("ensemble_clip") / actual - 1);
    sum["points"] += 1;
  }
  for (auto& [name, sum] : sums)
    for (auto& [method, value] : sum)
      if (method != "points") value *= 100 / sum["points"];
  return sums;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(forecast_cases_tests, *boost::unit_test::precondition(cases_given))

BOOST_AUTO_TEST_CASE(the_given_trajectories) {
  for (auto& [name, errors] : oracle_errors()) {
    BOOST_TEST(errors["paper"] <= errors["reference"] + 2, name);
    BOOST_TEST(errors["default"] <= errors["last"] + 1e-9, name);
    if (errors["points"] > 50) BOOST_TEST(errors["default"] < 0.5 * errors["last"], name);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
