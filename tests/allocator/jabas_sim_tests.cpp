// jabas-sim as a user runs it: output, error lines, exit codes.
#include <boost/test/unit_test.hpp>
#include <fstream>

#include "allocator/csv_table.h"
#include "allocator/json_reader.h"
#include "tests/allocator/decision_fixtures.h"
#include "tests/allocator/reference_folder.h"
#include "tests/support/shell_command.h"
#include "tests/support/temp_dir.h"

namespace jabas {
namespace {

class StateFile {
 public:
  explicit StateFile(const std::string& text) { std::ofstream(dir_ / "state.json") << text; }
  std::string option() const { return "--state '" + (dir_ / "state.json").string() + "'"; }

 private:
  TempDir dir_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(jabas_sim_tests)

BOOST_AUTO_TEST_CASE(a_table_for_people) {
  const StateFile file(to_json_text(fixtures::two_type_state()));
  const Outcome outcome = run_jabas_sim("decide " + file.option());
  BOOST_TEST(outcome.code == 0);
  BOOST_TEST(
      outcome.text.starts_with(
          "grow: 2×p100 + 2×v100 finishes the rest in 64 s for $0.0711 against 192 s and $0.107 "
          "with 2×p100 (time 0.05)\n"
          "GPUs: 2×p100 -> 2×p100 + 2×v100; forecast batch 192 (fixed); exhaustive over 9 "
          "candidates\n"),
      outcome.text);
  BOOST_TEST(outcome.text.find("* 2×p100 + 2×v100 ") != std::string::npos, outcome.text);
  BOOST_TEST(outcome.text.ends_with("Rejected: 1: no GPU\n"), outcome.text);
}

BOOST_AUTO_TEST_CASE(json_is_the_record_of_the_journal) {
  const StateFile file(to_json_text(fixtures::two_type_state()));
  const Outcome outcome = run_jabas_sim("decide --json " + file.option());
  BOOST_TEST(outcome.code == 0);
  BOOST_TEST(outcome.text == to_json_text(decide(fixtures::two_type_state())) + "\n");
}

BOOST_AUTO_TEST_CASE(each_error_is_one_line_with_its_code) {
  Outcome outcome = run_jabas_sim("decide --state /nowhere/s.json");
  BOOST_TEST(outcome.code == 3);
  BOOST_TEST(outcome.text ==
             "jabas-sim: cannot open the state: /nowhere/s.json: No such file or directory\n");
  outcome = run_jabas_sim("decide");
  BOOST_TEST(outcome.code == 2);
  BOOST_TEST(outcome.text == "jabas-sim: --state is required; see jabas-sim --help\n");
  BOOST_TEST(run_jabas_sim("").code == 2);
  BOOST_TEST(run_jabas_sim("--help").code == 0);
  const StateFile file("{\"epochs\": 0}");
  outcome = run_jabas_sim("decide " + file.option());
  BOOST_TEST(outcome.code == 3);
  BOOST_TEST(outcome.text ==
             "jabas-sim: state: epochs: 0 is not accepted: must be a whole number, 1..1000000\n");
}

BOOST_AUTO_TEST_CASE(nothing_to_predict_fails_but_tells_the_causes) {
  DecisionState state = fixtures::two_type_state();
  state.batch.fixed_local_batch = 100;
  const StateFile file(to_json_text(state));
  const Outcome outcome = run_jabas_sim("decide " + file.option());
  BOOST_TEST(outcome.code == 1);
  BOOST_TEST(outcome.text.starts_with("keep: no set of GPUs can be predicted: "), outcome.text);
}

BOOST_AUTO_TEST_CASE(profiles_are_imported_and_merged) {
  const fixtures::ReferenceFolder folder;
  const std::string p = folder.path("p.json"), q = folder.path("q.json");
  Outcome outcome =
      run_jabas_sim("import '" + folder.path() + "' -o '" + p + "' --name node0=v100,node1=p100");
  BOOST_TEST(outcome.code == 0);
  BOOST_TEST(outcome.text == "");
  const std::string text = to_json_text(load_profile(p)) + "\n";
  outcome = run_jabas_sim("merge '" + p + "' '" + p + "' -o -");
  BOOST_TEST(outcome.code == 0);
  BOOST_TEST(outcome.text == text);

  folder.write_compute(64, "node0", "Tesla V100", 1, 18, 19);
  outcome = run_jabas_sim("import '" + folder.path() + "' -o '" + q + "' --name node0=v100");
  BOOST_TEST(outcome.code == 0);
  BOOST_TEST(outcome.text == "jabas-sim: warning: " + folder.path() +
                                 ": types.v100: backward_s is not monotone in the local batch: "
                                 "with 1 streams it is 0.02 at 32 but 0.019 at 64: taken as 0.02 "
                                 "there\n");
  outcome = run_jabas_sim("merge '" + p + "' '" + q + "' -o -");
  BOOST_TEST(outcome.code == 3);
  BOOST_TEST(outcome.text ==
             "jabas-sim: types.v100.points (local batch 64, streams 1).backward_s: "
             "0.038 in " +
                 p + ", 0.019 in " + q + ": they must agree to be united\n");
  for (const char* name : {"node0", "node0=", "=x", "node0=a b", "node0=a,node0=b", "node7=x"})
    BOOST_TEST(run_jabas_sim("import '" + folder.path() + "' -o - --name '" + name + "'").code == 2,
               name);
  BOOST_TEST(run_jabas_sim("import '" + folder.path("nowhere") + "' -o -").code == 3);
  BOOST_TEST(run_jabas_sim("import-sia '" + folder.path() + "' -o -").code == 3);
}

// v100 runs 1,000 samples/s, p100 500 (profile_fixtures.h).
BOOST_AUTO_TEST_CASE(iteration_times_of_a_table) {
  const TempDir dir;
  std::ofstream(dir / "p.json") << to_json_text(fixtures::two_speeds());
  std::ofstream(dir / "cases.csv") << "V,server,note,lbs,GA,servers,total_gpus,sync,iter_time_s\n"
                                      "2,v100,kept,8,0,1,2,overlap,9\n1,p100,,16,2,2,4,sequential,"
                                      "9\n5,v100,,8,0,1,1,overlap,9\n";
  const std::string command =
      "iter-time --profile '" + (dir / "p.json").string() + "' --cases '" + dir.path();
  const Outcome outcome = run_jabas_sim(command + "/cases.csv'");
  BOOST_TEST(outcome.code == 0);
  const CsvTable table = CsvTable::parse(outcome.text, "output");
  BOOST_TEST(outcome.text.starts_with(
                 "V,server,note,lbs,GA,servers,total_gpus,sync,iter_time_s,reason\n2,v100,kept,"),
             outcome.text);
  const std::size_t time = table.column("iter_time_s"), reason = table.column("reason");
  BOOST_TEST(table.number(0, time) == 0.016, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(table.number(1, time) == 0.096, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(table.text(1, reason) == "");
  BOOST_TEST(table.text(2, time) == "");
  BOOST_TEST(table.text(2, reason) ==
             "5 streams of local batch 8 are not known to fit on v100, at most 4");
  std::ofstream(dir / "bad.csv") << "V,server,lbs,GA,servers,total_gpus\n1,t4,8,0,1,1\n";
  BOOST_TEST(run_jabas_sim(command + "/bad.csv'").text ==
             "jabas-sim: " + (dir / "bad.csv").string() +
                 ": line 2: server: the profile has no GPU "
                 "type 't4'\n");
}

BOOST_AUTO_TEST_CASE(a_solve_and_a_table_of_solves) {
  const TempDir dir;
  std::ofstream(dir / "p.json") << to_json_text(fixtures::two_speeds());
  const std::string command = "solve --profile '" + (dir / "p.json").string() + "' ";
  Outcome outcome = run_jabas_sim(command + "--cluster v100:1+p100:1 --lbs 8 --workers 6");
  BOOST_TEST(outcome.code == 0);
  BOOST_TEST(outcome.text.starts_with("Throughput:    1500 samples/s\nIteration:     0.032"),
             outcome.text);
  BOOST_TEST(
      outcome.text.find("Configuration: 1×v100 V=1 a=3 + 1×p100 V=1 a=1\n") != std::string::npos,
      outcome.text);
  outcome = run_jabas_sim(command + "--cluster v100:2 --lbs 8 --workers 7 --unit 2");
  BOOST_TEST(outcome.code == 1);
  BOOST_TEST(outcome.text ==
             "infeasible: 7 virtual workers cannot be shared out to units of 2 GPUs\n");
  outcome = run_jabas_sim(command + "--cluster v100:2 --lbs 8 --workers 1 --json");
  BOOST_TEST(outcome.code == 1);
  JsonReader json = JsonReader::parse(outcome.text, "solution");
  BOOST_TEST(!json.flag_or("feasible", true));
  BOOST_TEST(json.text("reason") == "1 virtual workers are fewer than 2 GPUs");

  std::ofstream(dir / "cases.csv") << "N,lbs,cluster\n6,8,\"v100:1,p100:1\"\n1,8,v100:1+v100:1\n";
  outcome = run_jabas_sim(command + "--cases '" + (dir / "cases.csv").string() + "' -o '" +
                          (dir / "out.csv").string() + "'");
  BOOST_TEST(outcome.code == 0);
  const CsvTable table = CsvTable::read((dir / "out.csv").string());
  BOOST_TEST(table.number(0, table.column("throughput")) == 1500,
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(table.text(0, table.column("configuration")) == "1×v100 V=1 a=3 + 1×p100 V=1 a=1");
  BOOST_TEST(table.text(0, table.column("reason")) == "");
  BOOST_TEST(table.text(1, table.column("throughput")) == "");
  BOOST_TEST(table.text(1, table.column("reason")) == "1 virtual workers are fewer than 2 GPUs");

  for (const char* wrong :
       {"", "--cluster v100:2", "--cluster t4:2 --lbs 8 --workers 4",
        "--cluster v100:2 --lbs 0 --workers 4", "--cluster v100:2 --lbs 8 --workers 4 --unit 0",
        "--cluster v100:2 --lbs 8 --workers 4 --sync late"})
    BOOST_TEST(run_jabas_sim(command + wrong).code == 2, wrong);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
