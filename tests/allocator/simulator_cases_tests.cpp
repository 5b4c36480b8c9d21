// The simulator on measured trainings.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "allocator/csv_table.h"
#include "allocator/sia_import.h"
#include "allocator/simulator/sia_workload.h"
#include "tests/allocator/simulator_fixtures.h"
#include "tests/support/cases.h"

namespace jabas::sim {
namespace {

const std::map<std::string, std::vector<int>> kBatches = {
    {"cifar10", {128, 256, 512, 1024, 2048, 4096}},
    {"imagenet", {200, 400, 800, 1600, 3200, 6400, 12800}},
    {"bert", {12, 24, 48, 96, 192, 384}}};

double steps_at(const std::string& workload, int batch, GainRule rule) {
  const std::string folder = cases_path("sia/" + workload);
  Setting setting(read_sia_workload(folder, rule), import_sia(folder).profile,
                  {sia_prices(), "test"});
  setting.fixed_batch = batch;
  const RunResult result = fixtures::run_policy(setting, "static", Availability({{"quad", 1}}));
  BOOST_TEST(result.final_batch == batch);
  return result.steps;
}

CsvTable measured(const std::string& workload, int batch) {
  return CsvTable::read(
      cases_path("sia/" + workload + "/validation-" + std::to_string(batch) + ".csv"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(simulator_cases_tests, *boost::unit_test::precondition(cases_given))

// An efficiency taken for a gain, or the reverse, is off by the ratio of the batches.
BOOST_AUTO_TEST_CASE(the_formula_gives_the_measured_iterations_within_8_percent) {
  for (const auto& [workload, batches] : kBatches)
    for (const int batch : batches) {
      const CsvTable table = measured(workload, batch);
      const double iterations = table.number(table.rows() - 1, table.column("iteration"));
      const double steps = steps_at(workload, batch, GainRule::kFormula);
      BOOST_TEST(std::abs(steps / iterations - 1) <= 0.08,
                 workload << " " << batch << " " << steps);
    }
}

BOOST_AUTO_TEST_CASE(the_measured_gain_gives_the_measured_iterations) {
  for (const auto& [workload, batches] : kBatches) {
    const CsvTable smallest = measured(workload, batches.front());
    const double work = smallest.number(smallest.rows() - 1, smallest.column("progress"));
    for (const int batch : batches) {
      const CsvTable table = measured(workload, batch);
      const std::size_t progress = table.column("progress"), iteration = table.column("iteration");
      // The file may end a little after or before the work is done.
      const std::size_t last = table.rows() - 1;
      const double gain = (table.number(last, progress) - table.number(last - 1, progress)) /
                          (table.number(last, iteration) - table.number(last - 1, iteration));
      const double expected =
          table.number(last, iteration) - (table.number(last, progress) - work) / gain;
      BOOST_TEST(steps_at(workload, batch, GainRule::kMeasured) == expected,
                 boost::test_tools::tolerance(1e-9));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas::sim
