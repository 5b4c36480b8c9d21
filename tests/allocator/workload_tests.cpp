// What a step brings at each point of a training, and where that is read from.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <limits>

#include "allocator/error.h"
#include "allocator/simulator/sia_workload.h"
#include "allocator/simulator/workload.h"
#include "tests/allocator/simulator_fixtures.h"
#include "tests/support/temp_dir.h"

namespace jabas::sim {
namespace {

using Curves = std::vector<ProgressCurve>;

bool says(const Error& error, const std::string& text) {
  BOOST_TEST_MESSAGE(error.what());
  return std::string(error.what()).find(text) != std::string::npos;
}

void write(const TempDir& folder, const std::string& name, const std::string& rows) {
  std::ofstream(folder / name) << "progress,iteration,metric,grad_sqr,grad_var\n" << rows;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(workload_tests)

BOOST_AUTO_TEST_CASE(a_row_counts_up_to_its_end_and_the_last_one_for_ever) {
  const Workload workload = fixtures::small_workload();
  BOOST_TEST(workload.work() == 1000);
  BOOST_TEST(workload.batch_min() == 16);
  BOOST_TEST(workload.batch_max() == 256);
  BOOST_TEST(workload.row_end(0) == 500);
  BOOST_TEST(workload.row_end(499.5) == 500);
  BOOST_TEST(workload.row_end(500) == std::numeric_limits<double>::infinity());
  const auto near = boost::test_tools::tolerance(1e-12);
  BOOST_TEST(workload.gain(0, 64) == 3, near);
  BOOST_TEST(workload.gain(499.5, 64) == 3, near);
  BOOST_TEST(workload.gain(500, 64) == 3.8, near);
  BOOST_TEST(workload.gain(2000, 256) == 12, near);
  BOOST_TEST(workload.noise(0, 64).var == 5, near);
  BOOST_TEST(workload.noise(700, 64).var == 40, near);
  BOOST_TEST(workload.noise(0, 64).base_batch == 16);
}

BOOST_AUTO_TEST_CASE(
    between_batches_the_gain_is_a_power_of_the_batch_and_outside_it_is_the_nearest) {
  const Workload workload = fixtures::small_workload();
  const auto near = boost::test_tools::tolerance(1e-12);
  BOOST_TEST(workload.gain(0, 32) == std::sqrt(3.0), near);
  BOOST_TEST(workload.gain(0, 128) == std::sqrt(18.0), near);
  BOOST_TEST(workload.gain(0, 1) == 1, near);
  BOOST_TEST(workload.gain(0, 1000) == 6, near);
}

BOOST_AUTO_TEST_CASE(the_formula_takes_the_noise_of_the_row) {
  const Workload workload = fixtures::small_workload(GainRule::kFormula);
  const auto near = boost::test_tools::tolerance(1e-12);
  BOOST_TEST(workload.gain(0, 64) == 6 / (5.0 / 4 + 1), near);
  BOOST_TEST(workload.gain(600, 256) == 41 / (40.0 / 16 + 1), near);
}

BOOST_AUTO_TEST_CASE(an_assumed_workload_has_the_same_noise_all_the_time) {
  const Workload workload = Workload::assumed("x", 9, 10, 100, 5000, 4);
  BOOST_TEST(workload.work() == 2000);
  BOOST_TEST(workload.batch_max() == 100);
  BOOST_TEST(workload.gain(0, 100) == 10 / (0.9 + 1), boost::test_tools::tolerance(1e-12));
  BOOST_TEST(workload.gain(1999, 100) == workload.gain(0, 100));
  BOOST_TEST(std::isnan(workload.final_metric(50)));
}

BOOST_AUTO_TEST_CASE(rows_that_make_no_sense_are_refused) {
  const auto refused = [](Curves curves, const std::string& text) {
    BOOST_CHECK_EXCEPTION(Workload("w", std::move(curves), 10, GainRule::kMeasured), InputError,
                          [&](const Error& error) { return says(error, text); });
  };
  refused({{8, {}}}, "batch 8: has no rows");
  refused({{8, {{5, 5, 0, 1, 1}, {5, 6, 0, 1, 1}}}}, "row 2: progress");
  refused({{8, {{5, 5, 0, 1, 1}, {6, 5, 0, 1, 1}}}}, "row 2: iteration");
  refused({{8, {{5, 5, 0, 0, 1}}}}, "grad_sqr");
  refused({{8, {{5, 5, 0, 1, std::nan("")}}}}, "grad_var");
  refused({{8, {{5, 5, 0, 1, 1}}}, {8, {{5, 5, 0, 1, 1}}}}, "batch 8 is there twice");
}

BOOST_AUTO_TEST_CASE(a_folder_is_read_by_the_batches_in_its_file_names) {
  const TempDir folder;
  write(folder, "validation-16.csv", "10,10,0.5,1,2\n20,20,0.6,1,4\n");
  write(folder, "validation-128.csv", "10,2,0.4,1,2\n20,4,0.5,1,4\n");
  std::ofstream(folder / "placements-x.csv") << "not read\n";
  std::ofstream(folder / "validation-x.csv") << "not read\n";
  const Workload workload = read_sia_workload(folder.path() + "/", GainRule::kMeasured);
  BOOST_TEST(workload.name() == std::filesystem::path(folder.path()).filename().string());
  BOOST_TEST(workload.batch_min() == 16);
  BOOST_TEST(workload.batch_max() == 128);
  BOOST_TEST(workload.epoch_samples() == 160);  // first row of the smallest batch
  BOOST_TEST(workload.gain(0, 128) == 5, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(workload.final_metric(128) == 0.5);
}

BOOST_AUTO_TEST_CASE(errors_of_a_folder_name_what_is_wrong) {
  const TempDir empty, broken;
  BOOST_CHECK_EXCEPTION(
      read_sia_workload(empty.path(), GainRule::kMeasured), InputError,
      [](const Error& error) { return says(error, "has no validation-BATCH.csv"); });
  BOOST_CHECK_THROW(read_sia_workload(empty.path() + "/nothing", GainRule::kMeasured), IoError);
  write(broken, "validation-16.csv", "10,nan,0.5,1,2\n");
  BOOST_CHECK_EXCEPTION(read_sia_workload(broken.path(), GainRule::kMeasured), InputError,
                        [](const Error& error) { return says(error, "line 2: iteration"); });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas::sim
