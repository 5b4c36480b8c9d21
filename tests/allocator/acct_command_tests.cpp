// jabasacct as a whole: arguments in, exact text out.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "allocator/acct_command.h"
#include "allocator/journal.h"
#include "tests/support/temp_dir.h"

using namespace jabas;
using namespace jabas::acct;

namespace {

struct Program {
  TempDir root;
  double now_s = 1764594000;  // an hour after the golden journal began
  std::string out, err;

  Program() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
  int run(std::vector<std::string> arguments, Environment environment = {}) {
    if (environment.state.empty()) environment.state = root.path();
    std::ostringstream output, errors;
    const int status = run_jabasacct(arguments, environment, now_s, output, errors);
    out = output.str();
    err = errors.str();
    return status;
  }
  std::string place(const std::string& job_id) {
    const auto directory = root / "mini" / job_id;
    std::filesystem::create_directories(directory);
    return directory / "journal.jsonl";
  }
  void golden() {
    const char* source = std::getenv("JABAS_SOURCE_DIR");
    BOOST_REQUIRE_MESSAGE(source != nullptr, "run by ctest, or set JABAS_SOURCE_DIR");
    std::filesystem::copy_file(std::string(source) + "/tests/data/journal-v1.jsonl", place("123"));
  }
  // A job in progress with one decision.
  void running(const std::string& job_id, double time_s) {
    JournalWriter writer(place(job_id), 0);
    writer.set_run(1);
    writer.append(time_s, record::kTrain, R"({"epochs":5,"device":"emulated"})");
    writer.append(time_s + 1, record::kDecision,
                  R"({"epoch":1,"action":"start","after":{"v100":1},"reason":"start: alone"})");
    writer.append(time_s + 2, record::kRequest, R"({"request":1,"gpu_type":"v100","gpus":1})");
    writer.append(
        time_s + 3, record::kMember,
        R"({"request":1,"job_id":9,"state":"pending","reason":"Priority","submit_time":)" +
            std::to_string(time_s + 2) + "}");
  }
  void end(const std::string& job_id, double time_s) {
    JournalWriter writer(place(job_id), 0);
    writer.set_run(1);
    writer.append(time_s, record::kEnd, R"({"state":"cancelled","epochs":0})");
  }
  // The job ids listed, each once.
  std::string jobs(const std::vector<std::string>& arguments) {
    std::vector<std::string> all = {"-Pn", "-o", "jobid"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    BOOST_TEST(run(all) == 0);
    std::string result, last;
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);) {
      if (line != last) result += line + " ";
      last = line;
    }
    return result;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(acct_command_tests, Program)

BOOST_AUTO_TEST_CASE(decisions_are_one_line_each) {
  golden();
  BOOST_TEST(run({"-P", "-j", "123"}) == 0);
  BOOST_TEST(
      out ==
      "JobID|Epoch|Time|Action|GPUs|GBS|PredTime|ActualTime|Cost|Pause|Reason\n"
      "123|1|2025-12-01T12:00:01|start|none → p100:2|128|00:01:33|00:01:35|0.0771|00:00.500|"
      "start: 2×p100 finishes the run in 370 s for $0.300 against 720 s and $0.292 with the next "
      "best, "
      "1×p100 (balanced 0.5)\n"
      "123|2|2025-12-01T12:01:46|grow|p100:2 → "
      "p100:2,v100:2|416|00:00:41|00:00:43|0.1080|00:00.312|"
      "grow: 2×p100 + 2×v100 finishes the rest in 124 s for $0.311 against 234 s and $0.190 with "
      "2×p100 (balanced 0.5)\n"
      "123|3|2025-12-01T12:02:41|keep|p100:2,v100:2|432|00:00:42|00:00:42|0.1042||"
      "keep: 3×p100 + 2×v100 would gain 1.0 %, less than 5 %\n"
      "123|4|2025-12-01T12:03:23|shrink|p100:2,v100:2 → "
      "p100:2|432|00:01:18|00:01:20|0.0649|00:00.151|"
      "shrink: 2×p100 finishes the rest in 79 s for $0.0641 against 41.5 s and $0.219 with 2×p100 "
      "+ "
      "2×v100 (balanced 0.5)\n");
  BOOST_TEST(err == "");
}

BOOST_AUTO_TEST_CASE(the_fixed_table_ends_with_what_became_of_the_run) {
  golden();
  BOOST_TEST(run({"-j", "123", "-o", "epoch,action,after,objective,paused"}) == 1);
  BOOST_TEST(err == "jabasacct: error: Invalid field requested: \"paused\"\n");
  BOOST_TEST(run({"-j", "123", "-o", "epoch,action,after%-8,pauseraw"}) == 0);
  BOOST_TEST(out ==
             "Epoch Action After     PauseRaw \n"
             "----- ------ -------- --------- \n"
             "    1 start  p100:2         0.5 \n"
             "    2 grow   p100:2,+     0.312 \n"
             "    3 keep   p100:2,+           \n"
             "    4 shrink p100:2       0.151 \n"
             "Job 123 run 1: completed, 4 of 4 epochs, 00:04:45, cost $0.3542, accuracy 0.8930 "
             "(all epochs are done)\n");
}

BOOST_AUTO_TEST_CASE(every_field_has_a_value) {
  golden();
  running("200", now_s - 60);
  for (const std::vector<std::string>& view :
       {std::vector<std::string>{}, {"--members"}, {"--batch"}}) {
    std::vector<std::string> arguments = {"-P", "-o", "ALL"};
    arguments.insert(arguments.end(), view.begin(), view.end());
    BOOST_TEST(run(arguments) == 0);
    BOOST_TEST(err == "");
    std::istringstream lines(out);
    std::size_t separators = 0;
    for (std::string line; std::getline(lines, line);) {
      const auto count = static_cast<std::size_t>(std::count(line.begin(), line.end(), '|'));
      if (separators == 0) separators = count;
      BOOST_TEST(count == separators);
    }
    BOOST_TEST(separators > 10u);
  }
  BOOST_TEST(
      run({"-Pn", "-j123", "-o",
           "before,wantedgbs,forecast,forecastmethod,traintimeraw,resttime,restcost,accuracy,"
           "loss,steps,samples,free,prices,pricessource,emulated,state,run,restart,cluster,user,"
           "generation,objective,gbsend,lbs,virtualworkers"}) == 0);
  BOOST_TEST(
      out.substr(out.find('\n') + 1, out.find('\n', out.find('\n') + 1) - out.find('\n') - 1) ==
      "p100:2|421.0|433.5|last value|41|00:02:04|0.3113|0.8600|0.4200|140|60000|p100:1,v100:2|"
      "p100=1.46,v100=3.06|prices.json|no|completed|1|0|mini|ada|3|balanced:0.5|433|52|8");
}

BOOST_AUTO_TEST_CASE(member_jobs_and_batches_have_tables_of_their_own) {
  golden();
  running("200", now_s - 60);
  BOOST_TEST(run({"--members", "-P"}) == 0);
  BOOST_TEST(
      out ==
      "JobID|Member|Type|GPUs|Node|Submit|Start|End|Wait|State|Reason\n"
      "123|124|p100|1|n2|2025-12-01T12:00:02|2025-12-01T12:00:06|2025-12-01T12:04:46|00:00:04|"
      "ended|finished\n"
      "123|125|v100|1|n3|2025-12-01T12:01:47|2025-12-01T12:01:48|2025-12-01T12:03:25|00:00:01|"
      "released|not in the wanted set\n"
      "123|126|v100|1|n3|2025-12-01T12:01:47|2025-12-01T12:01:48|2025-12-01T12:03:25|00:00:01|"
      "released|not in the wanted set\n"
      "123||p100|1||||||refused|sbatch: error: QOSMaxSubmitJobPerUserLimit\n"
      "200|9|v100|1||2025-12-01T12:59:02|||00:00:58|pending|Priority\n");
  BOOST_TEST(run({"--batch", "-n", "-o", "step,gbs,bar"}) == 0);
  BOOST_TEST(out ==
             "    100    208 ████████████             \n"
             "    200    416 ████████████████████████ \n");
}

BOOST_AUTO_TEST_CASE(the_window_is_that_of_sacct) {
  golden();                           // today, over
  running("200", now_s - 3 * 86400);  // began days ago, still running
  running("90", now_s - 2 * 86400);   // ended yesterday
  end("90", now_s - 86400);
  BOOST_TEST(jobs({}) == "123 200 ");
  BOOST_TEST(jobs({"-j", "90"}) == "90 ");
  BOOST_TEST(jobs({"-j", "90,123"}) == "90 123 ");
  BOOST_TEST(jobs({"-S", "now-10days"}) == "90 123 200 ");
  BOOST_TEST(jobs({"-S", "now-10days", "-E", "now-1day"}) == "90 200 ");
  BOOST_TEST(jobs({"-S", "12:02", "-j123"}) == "123 ");
  BOOST_TEST(std::count(out.begin(), out.end(), '\n') == 2);  // epochs 3 and 4
  BOOST_TEST(run({"-S", "now", "-E", "now-1hours"}) == 1);
  BOOST_TEST(err ==
             "jabasacct: error: Start time (2025-12-01T13:00:00) requested is after end time "
             "(2025-12-01T12:00:00)\n");
  BOOST_TEST(run({"-S", "gestern"}) == 1);
  BOOST_TEST(err == "jabasacct: error: Invalid time specification (pos=0): gestern\n");
}

BOOST_AUTO_TEST_CASE(nothing_found_is_a_header_and_no_error) {
  BOOST_TEST(run({"-P", "-o", "jobid,cost"}) == 0);
  BOOST_TEST(out == "JobID|Cost\n");
  BOOST_TEST(run({"-P", "-o", "jobid", "-j", "77"}) == 0);
  BOOST_TEST(out == "JobID\n");
  std::ostringstream output, errors;  // a user who never ran anything
  BOOST_TEST(run_jabasacct({"-n"}, {"", "", "", root / "nobody"}, now_s, output, errors) == 0);
  BOOST_TEST(errors.str() == "");
}

BOOST_AUTO_TEST_CASE(storage_that_cannot_be_read_is_an_error) {
  BOOST_TEST(run({"--state", root / "none"}) == 1);
  BOOST_TEST(err == "jabasacct: error: cannot read the state directory: " +
                        (root / "none").string() + ": No such file or directory\n");
  golden();
  const std::string broken = place("124");
  std::ofstream(broken) << "rubbish\n{}\n";
  BOOST_TEST(run({"-Pn", "-o", "jobid"}) == 1);
  BOOST_TEST(out == "123\n123\n123\n123\n");  // the others are shown
  BOOST_TEST(err == "jabasacct: error: " + broken + ": line 1: not a JSON object\n");
  BOOST_TEST(run({"-j124", "--why=1"}) == 1);
  BOOST_TEST(err == "jabasacct: error: " + broken + ": line 1: not a JSON object\n");
}

BOOST_AUTO_TEST_CASE(emulated_runs_say_so) {
  running("200", now_s - 60);
  BOOST_TEST(run({"-o", "jobid,emulated"}) == 0);
  BOOST_TEST(out ==
             "JobID    Emulated \n"
             "-------- -------- \n"
             "200           yes \n"
             "Job 200 run 1: running, 0 of 5 epochs\n"
             "  Its GPUs are emulated: times and costs are not of real ones.\n");
}

BOOST_AUTO_TEST_CASE(json_has_the_envelope_of_slurm) {
  golden();
  std::ofstream(place("123"), std::ios::app) << "{\"v\":1,";
  BOOST_TEST(run({"--json", "-j123", "--why", "2"}) == 0);
  const auto has = [&](const std::string& text) { return out.find(text) != std::string::npos; };
  BOOST_TEST(has("\"type\": \"jabasacct\""));
  BOOST_TEST(has("\"errors\": []"));
  BOOST_TEST(has(": the last line is incomplete and was left out\""));
  BOOST_TEST(has("\"decisions\": ["));
  BOOST_TEST(has("\"epoch\": 2"));
  BOOST_TEST(!has("\"epoch\": 3"));
  BOOST_TEST(has("\"pause_s\": 0.312"));
  BOOST_TEST(has("\"duration_s\": 43.0"));
  BOOST_TEST(has("\"emulated\": false"));
  BOOST_TEST(run({"--json", "--members"}) == 0);
  BOOST_TEST(has("\"member_job_id\": \"124\""));
  BOOST_TEST(has("\"start_time\": null"));
  BOOST_TEST(run({"--json", "--batch"}) == 0);
  BOOST_TEST(has("\"batches\": ["));
}

BOOST_AUTO_TEST_CASE(help_version_and_field_names) {
  BOOST_TEST(run({"--help"}) == 0);
  BOOST_TEST(out == std::string(kHelp));
  BOOST_TEST(run({"-V"}) == 0);
  BOOST_TEST(out.find("jabas 0.") == 0u);
  BOOST_TEST(run({"-e"}) == 0);
  BOOST_TEST(out.find("JobID             Epoch             Time              TimeRaw\n") == 0u);
  BOOST_TEST(run({"-e", "--members"}) == 0);
  BOOST_TEST(out.find("JobID             Member ") == 0u);
  BOOST_TEST(run({"--bad"}) == 1);
  BOOST_TEST(err == "jabasacct: error: unrecognized option '--bad'\n");
}

BOOST_AUTO_TEST_SUITE_END()
