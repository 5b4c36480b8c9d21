// Solves with known optima: the reference's profile, rules and pairs of GPUs.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "allocator/cluster_text.h"
#include "allocator/csv_table.h"
#include "allocator/profile_import.h"
#include "allocator/throughput_model.h"
#include "tests/support/cases.h"

namespace jabas {

BOOST_AUTO_TEST_SUITE(solve_cases_tests, *boost::unit_test::precondition(cases_given))

BOOST_AUTO_TEST_CASE(every_solve_is_the_optimum) {
  const Profile profile = import_profile(cases_path("jabas-quickstart"), {});
  const ThroughputModel model(profile, {true, false});
  const CsvTable table = CsvTable::read(cases_path("oracle/solve.csv"));
  const std::size_t workers = table.column("N"), local_batch = table.column("lbs"),
                    cluster_text = table.column("cluster"),
                    optimum = table.column("exact_throughput");
  BOOST_TEST_REQUIRE(table.rows() > 500u);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::vector<ClusterEntry> cluster;
    RankedGpus gpus;
    BOOST_TEST_REQUIRE(parse_cluster(table.text(row, cluster_text), profile, &cluster) == "");
    BOOST_TEST_REQUIRE(rank_cluster(cluster, profile, 2, &gpus) == "");
    const Solution solution = solve(gpus, table.integer(row, local_batch, 1, 1000),
                                    table.integer(row, workers, 1, 100000), model);
    BOOST_TEST_REQUIRE(solution.configuration.has_value() == !table.text(row, optimum).empty(),
                       "row " << row);
    if (solution.configuration)
      BOOST_TEST_REQUIRE(
          std::abs(solution.configuration->samples_per_s() / table.number(row, optimum) - 1) < 1e-9,
          "row " << row);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
