#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "allocator/error.h"
#include "elastic_runner/metrics.h"
#include "tests/support/temp_dir.h"

namespace jabas {
namespace {

struct MetricsFixture {
  std::vector<nlohmann::json> lines() const {
    std::ifstream file(path);
    std::vector<nlohmann::json> result;
    for (std::string line; std::getline(file, line);) result.push_back(nlohmann::json::parse(line));
    return result;
  }

  TempDir dir;
  const std::string path = (dir / "metrics.jsonl").string();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(metrics_tests, MetricsFixture)

BOOST_AUTO_TEST_CASE(a_step_says_where_its_time_went) {
  StepOutcome outcome;
  outcome.loss = 1.5;
  outcome.samples = 24;
  outcome.times = {1, 2, 3, 4, 5, 12, 0.5};
  Metrics(path).step(RunState{}, outcome, 32);
  const auto line = lines().at(0);
  BOOST_TEST(line["data_s"] == 1.0);
  BOOST_TEST(line["forward_s"] == 2.0);
  BOOST_TEST(line["backward_s"] == 3.0);
  BOOST_TEST(line["exposed_all_reduce_s"] == 0.5);
  BOOST_TEST(line["optimizer_s"] == 5.0);
  BOOST_TEST(line["step_s"] == 12.0);
  BOOST_TEST(line["samples_per_s"] == 2.0);
  BOOST_TEST(line["global_batch"] == 32);
  BOOST_TEST(line["time"].get<double>() > 1.7e9);
  BOOST_TEST(line["resident_bytes"].get<std::int64_t>() > 100'000);
  BOOST_TEST(!line.contains("gradient_norm"));
}

BOOST_AUTO_TEST_CASE(an_epoch_has_what_can_be_said_about_its_labels) {
  Metrics metrics(path);
  metrics.epoch(1, {12, 3, 6, 0, 0, false});
  metrics.epoch(2, {12, 3, 6, 5, 6, true});
  metrics.epoch(3, {});
  const auto written = lines();
  BOOST_TEST(written.at(0) ==
             nlohmann::json({{"epoch", 1}, {"test_accuracy", 0.5}, {"test_loss", 2.0}}));
  BOOST_TEST(written.at(1) == nlohmann::json({{"epoch", 2},
                                              {"test_accuracy", 0.5},
                                              {"test_top5_accuracy", 5.0 / 6},
                                              {"test_loss", 2.0},
                                              {"test_perplexity", std::exp(2.0)}}));
  BOOST_TEST(written.at(2) ==
             nlohmann::json({{"epoch", 3}, {"test_accuracy", -1.0}, {"test_loss", -1.0}}));
}

BOOST_AUTO_TEST_CASE(lines_are_appended) {
  Metrics(path).epoch(1, {});
  Metrics(path).epoch(2, {});
  BOOST_TEST(lines().size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_opened_is_named) {
  BOOST_CHECK_THROW(Metrics((dir / "missing" / "m").string()), IoError);
  Metrics("").epoch(1, {});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
