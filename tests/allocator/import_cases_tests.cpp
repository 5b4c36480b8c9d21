// Imports of published data, against published answers.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "allocator/csv_table.h"
#include "allocator/profile_import.h"
#include "allocator/sia_import.h"
#include "allocator/throughput_model.h"
#include "tests/support/cases.h"

namespace jabas {

BOOST_AUTO_TEST_SUITE(import_cases_tests, *boost::unit_test::precondition(cases_given))

BOOST_AUTO_TEST_CASE(an_imported_profile_predicts_what_the_reference_predicts) {
  const Profile imported = import_profile(cases_path("jabas-quickstart"), {});
  const Profile profile = profile_from_json(to_json_text(imported), "written and read back");
  const ThroughputModel overlap(profile, {true, false}), sequential(profile, {true, true});
  const CsvTable table = CsvTable::read(cases_path("oracle/iter_time.csv"));
  const auto whole = [&](std::size_t row, const char* column) {
    return int(table.integer(row, table.column(column), 0, 1'000'000));
  };
  BOOST_TEST_REQUIRE(table.rows() > 100u);
  double worst = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const bool overlaps = table.text(row, table.column("sync")) == "overlap";
    const TypeModel* model =
        (overlaps ? overlap : sequential).find(table.text(row, table.column("server")));
    BOOST_TEST_REQUIRE(model);
    const int batch = whole(row, "lbs");
    BOOST_TEST(whole(row, "V") <= model->max_streams(batch));
    const double iteration_s =
        model->step_s(batch, {whole(row, "V"), whole(row, "GA")},
                      model->all_reduce(whole(row, "total_gpus"), whole(row, "servers"), batch));
    const double expected_s = table.number(row, table.column("iter_time_s"));
    worst = std::max(worst, std::abs(iteration_s / expected_s - 1));
  }
  BOOST_TEST_MESSAGE("worst relative difference " << worst);
  BOOST_TEST(worst <= 1e-9);
}

BOOST_AUTO_TEST_CASE(measured_steps_are_predicted_within_their_goals) {
  for (const char* model : {"bert", "cifar10", "imagenet"}) {
    const SiaImport import = import_sia(cases_path(std::string("sia/") + model));
    BOOST_TEST(import.profile.model == model);
    BOOST_TEST(import.fits.size() == 5u);
    for (const SiaFit& fit : import.fits) {
      const bool azure = fit.file.find("azure") != std::string::npos;
      BOOST_TEST_CONTEXT(fit.file) BOOST_TEST(fit.median_error <= (azure ? 0.14 : 0.06));
    }
    BOOST_TEST(profile_warnings(import.profile).empty());
    BOOST_TEST(import.profile.types.at("azure").gpus_per_node == 8);
    const std::string text = to_json_text(import.profile);
    BOOST_TEST(to_json_text(profile_from_json(text, "again")) == text);
    // A larger set of as many nodes is never predicted to be faster.
    for (const auto& [name, type] : import.profile.types)
      for (const auto* sync : {&type.sync_intra, &type.sync_inter})
        for (const ExposedSync& at : *sync) BOOST_TEST(at.per_doubling_s >= 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
