// jabas-sim forecast as a user runs it.
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <sstream>

#include "tests/support/shell_command.h"
#include "tests/support/temp_dir.h"

namespace jabas {
namespace {

const std::string kHistory =
    "gbs,step,epoch,dataset,trajectory\n"
    "256,100,0,50000,a\n320,200,0,50000,a\n384,300,1,50000,a\n";

// "H" and "P" in the arguments stand for files with these texts.
Outcome run(const std::string& history, const std::string& points,
            const std::string& arguments = "") {
  const TempDir dir;
  std::ofstream(dir / "H.csv") << history;
  std::ofstream(dir / "P.csv") << points;
  return run_command("cd '" + dir.path() + "' && " + built_program("jabas-sim") +
                     " forecast --history H.csv --points P.csv " + arguments);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sim_forecast_tests)

BOOST_AUTO_TEST_CASE(a_forecast_is_added_as_the_last_column) {
  const Outcome outcome = run(kHistory,
                              "note,x_pred_step,after_epoch,dataset,trajectory\n"
                              "\"x, y\",300,0,50000,a\nz,500,1,50000,a\n",
                              "--method last");
  BOOST_TEST(outcome.code == 0);
  BOOST_TEST(outcome.text ==
             "note,x_pred_step,after_epoch,dataset,trajectory,forecast\n"
             "\"x, y\",300,0,50000,a,320\nz,500,1,50000,a,384\n");
}

BOOST_AUTO_TEST_CASE(later_records_change_nothing) {
  std::string first = "trajectory,dataset,epoch,step,gbs\n", later;
  for (int i = 1; i <= 40; ++i)
    (i <= 30 ? first : later) += "a,500000," + std::to_string(i <= 30 ? 0 : 1) + "," +
                                 std::to_string(i * 100) + "," + std::to_string(300 + 9 * i) +
                                 ".5\n";
  const std::string points =
      "trajectory,dataset,after_epoch,x_pred_step\na,500000,0,3100\na,500000,0,3700\n";
  for (const std::string method : {"last", "paper", "default"})
    BOOST_TEST(run(first, points, "--method " + method).text ==
               run(first + later, points, "--method " + method).text);
}

BOOST_AUTO_TEST_CASE(errors_are_scored_where_the_outcome_is_known) {
  const Outcome outcome = run(kHistory,
                              "trajectory,dataset,after_epoch,x_pred_step,actual_gbs\n"
                              "a,50000,0,300,400\na,50000,1,400,\n",
                              "--method last -o out.csv");
  BOOST_TEST(outcome.code == 0);
  BOOST_TEST(outcome.text.find("20.00") != std::string::npos, outcome.text);
}

BOOST_AUTO_TEST_CASE(bad_input_is_one_line_with_its_code) {
  const std::string header = "trajectory,dataset,after_epoch,x_pred_step\n";
  const auto expect = [](const Outcome& outcome, int code, const std::string& text) {
    BOOST_TEST(outcome.code == code);
    BOOST_TEST(outcome.text == "jabas-sim: " + text + "\n");
  };
  expect(run(kHistory, header + "b,50000,0,300\n"), 3,
         "P.csv: line 2: trajectory: 'b' with dataset '50000' is not in H.csv");
  expect(run(kHistory, header + "a,50000,x,300\n"), 3,
         "P.csv: line 2: after_epoch: 'x' is not accepted: must be a whole number, 0..1000000000");
  expect(run(kHistory, header + "a,50000,0,200\n"), 3,
         "P.csv: line 2: x_pred_step: 200 is not accepted: must be after step 200, the last record "
         "up to epoch 0");
  expect(run(kHistory, "trajectory,dataset,x_pred_step\n"), 3,
         "P.csv: column 'after_epoch' is missing; the header has "
         "'trajectory,dataset,x_pred_step'");
  expect(run("trajectory,dataset,epoch,step,gbs\na,50000,2,100,256\n", header + "a,50000,1,300\n"),
         3, "P.csv: line 2: after_epoch: 1: 'a' has no record up to this epoch");
  expect(run("trajectory,dataset,epoch,step,gbs\na,1,0,100,2x\n", header), 3,
         "H.csv: line 2: gbs: '2x' is not a number");
  expect(run(kHistory + "9,200,1,50000,a\n", header), 3,
         "H.csv: line 5: step: 200 is there twice in trajectory 'a'");
  expect(run(kHistory, header, "--method holt"), 2,
         "forecast method 'holt' is not known: accepted are last, paper, default");
  expect(run(kHistory, header, "--batch-min 9 --batch-max 3"), 2,
         "--batch-min 9 --batch-max 3: accepted are 1 <= MIN <= MAX");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
