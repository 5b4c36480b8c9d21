// Measured placements: rows, the fit of exposed times, the type made of them.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <random>

#include "allocator/sia_import.h"
#include "allocator/sia_import_fit.h"
#include "allocator/throughput_model.h"
#include "tests/support/complaint.h"
#include "tests/support/temp_dir.h"

namespace jabas {
namespace {

constexpr char kHeader[] = "local_bsz,sync_time,placement,step_time\n";

std::vector<SiaStep> steps(const std::string& rows) {
  return read_sia_steps(CsvTable::parse(kHeader + rows, "F"));
}
std::string complaint(const std::string& rows) {
  return complaint_of([&] { sia_type(steps(rows), "F"); });
}

double exposed(const ExposedSync& sync, int gpus, int nodes) {
  return sync.base_s + sync.per_doubling_s * std::log2(gpus / 2.0) +
         (nodes >= 3 ? sync.three_nodes_s : 0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sia_import_tests)

BOOST_AUTO_TEST_CASE(columns_are_found_by_name) {
  const auto rows = steps("16,0.5,124,2\n32,0,1,3\n");
  BOOST_TEST_REQUIRE(rows.size() == 2u);
  BOOST_TEST(rows[0].gpus == 7);
  BOOST_TEST(rows[0].nodes == 3);
  BOOST_TEST(rows[0].largest_node == 4);
  BOOST_TEST(rows[0].local_batch == 16);
  BOOST_TEST(rows[0].step_s == 2);
  BOOST_TEST(rows[0].sync_s == 0.5);
  BOOST_TEST(rows[1].gpus == 1);
}

BOOST_AUTO_TEST_CASE(wrong_rows_are_named) {
  BOOST_TEST(
      complaint("16,0.5,40,2\n") ==
      "F: line 2: placement: '40' is not accepted: must be one digit 1..9 per node, its GPUs");
  for (const char* row : {"16,0.5,,2", "16,0.5,4x,2", "16,-1,4,2", "16,0.5,4,-2", "16,0.5,4,0",
                          "16,nan,4,2", "16,0.5,4,inf", "0,0.5,4,2", "1.5,0.5,4,2", "16,0.5,4"})
    BOOST_TEST(complaint(std::string("8,0,1,1\n") + row + "\n").starts_with("F: line 3: "), row);
  BOOST_TEST(complaint("") == "F: has no rows");
  BOOST_TEST(complaint("16,2,4,2\n") ==
             "F: sync_time: half of the rows with local_bsz 16 have one that is not below their "
             "step_time");
  BOOST_TEST(complaint_of([] {
               read_sia_steps(CsvTable::parse("placement,local_bsz,step_time\n1,2,3\n", "F"));
             }).find("sync_time") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(exact_data_give_their_coefficients) {
  std::vector<SyncSample> samples;
  for (const int nodes : {2, 3, 4})
    for (int gpus = nodes; gpus <= 4 * nodes; ++gpus)
      samples.push_back(
          {gpus, nodes, 0.2 + 0.1 * std::log2(gpus / 2.0) - (nodes >= 3 ? 0.05 : 0), 1});
  const auto check = [&] {
    const ExposedSync sync = fit_exposed_sync(samples);
    BOOST_TEST(std::abs(sync.base_s - 0.2) < 1e-3);
    BOOST_TEST(std::abs(sync.per_doubling_s - 0.1) < 1e-3);
    BOOST_TEST(std::abs(sync.three_nodes_s + 0.05) < 1e-3);
  };
  check();
  // One in six measured badly.
  for (std::size_t i = 0; i < samples.size(); i += 6) samples[i].exposed_s += 5;
  check();
}

BOOST_AUTO_TEST_CASE(few_placements_give_fewer_coefficients) {
  ExposedSync sync = fit_exposed_sync({{4, 1, 0.3, 1}});
  BOOST_TEST(sync.base_s == 0.3);
  BOOST_TEST(sync.per_doubling_s == 0);
  sync = fit_exposed_sync({{2, 1, 0.1, 1}, {4, 1, 0.3, 1}});
  BOOST_TEST(std::abs(exposed(sync, 8, 1) - 0.5) < 1e-9);
  BOOST_TEST(sync.three_nodes_s == 0);
  // Size and number of nodes cannot be told apart: growth is the size's.
  sync = fit_exposed_sync({{4, 2, 0.1, 1}, {16, 4, 0.3, 1}});
  BOOST_TEST(sync.three_nodes_s == 0);
  BOOST_TEST(std::abs(sync.per_doubling_s - 0.1) < 1e-9);
  sync = fit_exposed_sync({{4, 2, 0.1, 1}, {4, 4, 0.3, 1}});
  BOOST_TEST(std::abs(exposed(sync, 4, 2) - 0.1) < 1e-9);
  BOOST_TEST(std::abs(exposed(sync, 4, 4) - 0.3) < 1e-9);
  // Never faster with more GPUs.
  sync = fit_exposed_sync({{2, 1, 0.3, 1}, {4, 1, 0.1, 1}, {8, 1, 0.1, 1}});
  BOOST_TEST(sync.per_doubling_s == 0);
}

BOOST_AUTO_TEST_CASE(fits_of_any_samples_are_finite) {
  const unsigned seed = 7;
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 2000; ++i) {
    std::vector<SyncSample> samples(1 + random() % 6);
    for (SyncSample& sample : samples)
      sample = {int(2 + random() % 30), int(1 + random() % 4),
                std::ldexp(double(random() % 8), int(random() % 40) - 20),
                std::ldexp(1, int(random() % 40) - 29)};
    const ExposedSync sync = fit_exposed_sync(samples);
    BOOST_TEST_REQUIRE(std::isfinite(sync.base_s + sync.per_doubling_s + sync.three_nodes_s));
    BOOST_TEST_REQUIRE(sync.per_doubling_s >= 0);
  }
}

BOOST_AUTO_TEST_CASE(a_type_has_the_median_and_never_falls) {
  const TypeProfile type = sia_type(
      steps("8,0,1,1\n8,0.5,2,1.6\n8,2,44,2.9\n16,0.1,1,1.1\n32,0.2,1,3\n32,1,4,4\n"), "F");
  BOOST_TEST_REQUIRE(type.points.size() == 3u);
  BOOST_TEST(type.points[0].backward_s == 1);
  BOOST_TEST(type.points[0].forward_s == 0);
  BOOST_TEST(type.points[1].backward_s == 1);  // measured 1.0, not below 8's
  BOOST_TEST(std::abs(type.points[2].backward_s - 2.9) < 1e-12);
  BOOST_TEST(type.gpus_per_node == 4);
  BOOST_TEST((type.max_streams == std::map<std::int64_t, int>{{8, 1}, {16, 1}, {32, 1}}));
  BOOST_TEST(type.sync_intra.size() == 2u);
  BOOST_TEST_REQUIRE(type.sync_inter.size() == 1u);
  BOOST_TEST(std::abs(type.sync_inter[0].base_s - 1.9) < 1e-12);
  const TypeModel model(type, {}, {});
  BOOST_TEST(std::abs(model.step_s(8, {1, 0}, model.all_reduce(8, 2, 8)) - 2.9) < 1e-12);
  BOOST_TEST(model.step_s(8, {1, 0}, model.all_reduce(1, 1, 8)) == 1);
}

BOOST_AUTO_TEST_CASE(a_folder_is_a_profile) {
  const TempDir dir;
  BOOST_TEST(complaint_of([&] { import_sia(dir.path()); }) ==
             dir.path() + ": has no file placements-CLUSTER.csv, such as placements-aws.csv");
  std::ofstream(dir / "placements-aws.csv") << kHeader << "8,0,1,1\n8,1,2,2\n";
  std::ofstream(dir / "placements-own.csv") << kHeader << "8,0,1,1\n8,1,2,3\n";
  std::ofstream(dir / "validation-8.csv") << "not read\n";
  const SiaImport import = import_sia(dir.path() + "/");
  BOOST_TEST(import.profile.model == std::filesystem::path(dir.path()).filename().string());
  BOOST_TEST_REQUIRE(import.profile.types.size() == 2u);
  BOOST_TEST(import.profile.types.at("aws").gpu == "Tesla T4");
  BOOST_TEST(import.profile.types.at("aws").tflops == 8.14);
  BOOST_TEST(import.profile.types.at("own").gpu == "");
  BOOST_TEST_REQUIRE(import.fits.size() == 2u);
  BOOST_TEST(import.fits[0].rows == 2u);
  BOOST_TEST(import.fits[0].median_error < 1e-12);
  // compute = median of 1 and 2
  BOOST_TEST(std::abs(import.fits[1].high_error - 0.5) < 1e-12);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
