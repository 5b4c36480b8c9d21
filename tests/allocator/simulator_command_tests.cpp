// jabas-sim run and plan as a user runs them: tables, error lines, exit codes.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <fstream>

#include "allocator/csv_table.h"
#include "tests/allocator/profile_fixtures.h"
#include "tests/support/shell_command.h"
#include "tests/support/temp_dir.h"

namespace jabas {
namespace {

// Steps of 0.1 s whatever the batch, on one GPU type; twice the progress at twice the batch.
struct Folder {
  Folder() {
    std::ofstream(dir / "placements-t.csv") << "placement,local_bsz,step_time,sync_time\n"
                                               "1,8,0.1,0\n1,16,0.1,0\n2,8,0.1,0\n2,16,0.1,0\n";
    std::ofstream(dir / "validation-8.csv")
        << "progress,iteration,metric,grad_sqr,grad_var\n100,100,0.5,1,90\n200,200,0.8,1,90\n";
    std::ofstream(dir / "validation-16.csv")
        << "progress,iteration,metric,grad_sqr,grad_var\n100,50,0.5,1,90\n200,100,0.7,1,90\n";
    std::ofstream(dir / "prices.csv") << "t,3.6\n";
  }
  std::string options() const {
    return "--sia '" + dir.path() + "' --cluster t:1 --prices '" + (dir / "prices.csv").string() +
           "'";
  }
  TempDir dir;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(simulator_command_tests)

BOOST_AUTO_TEST_CASE(run_prints_the_epochs_and_last_the_table) {
  const Folder folder;
  const Outcome outcome =
      run_jabas_sim("run " + folder.options() + " --policy static,static-tuned");
  BOOST_TEST_REQUIRE(outcome.code == 0, outcome.text);
  BOOST_TEST(
      outcome.text.starts_with("policy,objective,epoch,batch,gpus,time_s,cost_usd,iterations\n"
                               "static,time:0.05,1,8,t:1,10.00,0.0100,100.0\n"));
  const std::size_t last = outcome.text.find("workload,cluster,");
  BOOST_TEST_REQUIRE(last != std::string::npos, outcome.text);
  const CsvTable table = CsvTable::parse(outcome.text.substr(last), "the results");
  BOOST_TEST_REQUIRE(table.rows() == 2u);
  BOOST_TEST(table.number(0, table.column("time_s")) == 20);
  BOOST_TEST(table.number(0, table.column("cost_usd")) == 0.02);
  BOOST_TEST(table.number(1, table.column("time_s")) == 10);
  BOOST_TEST(table.text(1, table.column("final_batch")) == "16");
  BOOST_TEST(outcome.text.find("# predicted, not measured") < last);
}

// The reference's rules charge one GPU the intercept of an all-reduce, ours do not.
BOOST_AUTO_TEST_CASE(plan_reads_a_profile_by_the_rules_asked_for) {
  const std::string command =
      "plan --profile '" + fixtures::source_path("tests/data/resnet50_profile.json") +
      "' --cluster v100:1 --unit 1 --samples 1000 --epochs 2 --batch-min 64 --batch-max 64 "
      "--noise 5 --objectives time";
  const Outcome ours = run_jabas_sim(command);
  const Outcome theirs = run_jabas_sim(command + " --reference-rounding");
  BOOST_TEST(ours.code == 0);
  BOOST_TEST(theirs.code == 0);
  BOOST_TEST(ours.text != theirs.text);
}

BOOST_AUTO_TEST_CASE(plan_prints_a_row_for_each_objective) {
  const Folder folder;
  const Outcome outcome =
      run_jabas_sim("plan " + folder.options() + " --objectives time,cost --unit 1");
  BOOST_TEST_REQUIRE(outcome.code == 0, outcome.text);
  BOOST_TEST(outcome.text.starts_with("objective"), outcome.text);
  BOOST_TEST(outcome.text.find("\ntime:0.05 ") != std::string::npos, outcome.text);
  BOOST_TEST(outcome.text.find("\ncost ") != std::string::npos, outcome.text);
}

BOOST_AUTO_TEST_CASE(errors_are_one_line_with_the_right_code) {
  const Folder folder;
  const auto fails = [](const std::string& arguments, int code, const std::string& text) {
    const Outcome outcome = run_jabas_sim(arguments);
    BOOST_TEST(outcome.code == code, outcome.text);
    BOOST_TEST(outcome.text.find(text) != std::string::npos, outcome.text);
    BOOST_TEST(std::count(outcome.text.begin(), outcome.text.end(), '\n') == 1, outcome.text);
  };
  fails("run " + folder.options() + " --policy best", 2, "policy 'best' is not known");
  fails("run " + folder.options() + " --gain some", 2, "--gain=some");
  fails("run " + folder.options() + " --gpus t:1", 2, "give --policy static");
  fails("run --cluster t:1", 2, "--sia is needed");
  fails("run --sia /nonexistent --cluster t:1", 3, "/nonexistent");
  fails("plan --cluster t:1", 2, "either --sia or --profile");
  fails("plan --cluster t:1 --sia D --reference-rounding", 2,
        "--reference-rounding goes with --profile");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
