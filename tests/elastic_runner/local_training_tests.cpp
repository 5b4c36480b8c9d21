// `jabas-run train --local` as a user starts it: the real engine, real processes, real collectives.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <random>

#include "allocator/config_solver.h"
#include "tests/elastic_runner/exported_weights.h"
#include "tests/elastic_runner/program_run.h"
#include "tests/support/temp_dir.h"

using namespace jabas::testing;
namespace fs = std::filesystem;

namespace {

bool has_data() { return fs::exists("/usr/share/datasets/fashion-mnist"); }
boost::test_tools::assertion_result data_installed(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(has_data());
  result.message() << "the package dataset-fashion-mnist is not installed";
  return result;
}

// Runs to the end and expects success.
std::string succeeds(const TempDir& dir, const std::string& line) {
  ProgramRun run(dir.path(), line);
  const int code = run.wait();
  BOOST_TEST_REQUIRE(code == 0, line << ": exit code " << code << ": " << run.err() << run.out());
  return run.out();
}

void ledger_is_good(const TempDir& dir, const std::string& ledger) {
  const std::string out = succeeds(dir, "check-ledger " + ledger);
  BOOST_TEST(out.find("every sample exactly once") != std::string::npos, out);
}

Weights trained(const std::string& line) {
  const TempDir dir;
  const std::string exported = (dir / "w.safetensors").string(), ledger = (dir / "ledger").string();
  succeeds(dir, line + " --export " + exported + " --ledger-out " + ledger);
  ledger_is_good(dir, ledger);
  return read_weights(exported);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(local_training_tests, *boost::unit_test::precondition(data_installed))

// The same seed, b and N on any placement, dropout and BatchNorm on, also across resizes.
BOOST_AUTO_TEST_CASE(placement_does_not_change_the_weights) {
  const std::string common =
      "train --model cnn --subset 1000 --epochs 3 --local-batch 16 --virtual-workers 8 --seed 3 ";
  const Weights one = trained(common + "--local 1 --vsw 8");
  BOOST_TEST(one.size() > 8U);
  for (const std::string placement : {"--local 1 --vsw 1 --accum 7", "--local 2", "--local 4",
                                      "--local 8", "--local 4,2,3 --vsw 2,4,3:3:2 --accum 0"}) {
    const double difference = largest_difference(one, trained(common + placement));
    BOOST_TEST_MESSAGE(placement << ": max|Δ|/max|w| = " << difference);
    BOOST_TEST(difference <= 1e-5, placement);
  }
}

// The gpt on text that Debian ships, through resizes.
BOOST_AUTO_TEST_CASE(a_language_model_survives_resizes) {
  const TempDir dir;
  const std::string metrics = (dir / "metrics.jsonl").string();
  const std::string common =
      "train --model gpt --layers 1 --width 32 --heads 2 --sequence-length 32 --subset 600 "
      "--epochs 3 --local-batch 8 --virtual-workers 6 --lr 0.1 ";
  const Weights one = trained(common + "--local 1 --metrics-out " + metrics);
  BOOST_TEST(largest_difference(one, trained(common + "--local 3,1,2")) <= 1e-5);
  BOOST_TEST(file_text(metrics).find("\"test_loss\":") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(another_seed_gives_other_weights) {
  const std::string common = "train --model mlp --subset 500 --local 1 --virtual-workers 2 ";
  BOOST_TEST(largest_difference(trained(common + "--seed 1"), trained(common + "--seed 2")) > 1e-3);
}

BOOST_AUTO_TEST_CASE(random_grow_and_shrink_reads_every_sample_once) {
  const std::uint32_t seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  std::string workers;
  for (int epoch = 0; epoch < 6; ++epoch) {
    workers +=
        (epoch > 0 ? "," : "") + std::to_string(std::uniform_int_distribution<int>(1, 4)(random));
  }
  BOOST_TEST_MESSAGE("--local " << workers);
  const std::string common =
      "train --model mlp --subset 1501 --epochs 6 --local-batch 16 --virtual-workers 5 ";
  BOOST_TEST(largest_difference(trained(common + "--local 1"),
                                trained(common + "--local " + workers)) < 1e-5);
}

// Adaptive: b·N follows the gradients while workers come and go; the ledger still holds.
BOOST_AUTO_TEST_CASE(adaptive_run_grows_its_batch) {
  const TempDir dir;
  const std::string metrics = (dir / "metrics.jsonl").string(), ledger = (dir / "ledger").string();
  succeeds(dir,
           "train --model mlp --subset 3000 --epochs 3 --local 2,3,1 --local-batch 16 --batch-min "
           "32 --batch-max 256 "
           "--batch-policy paper --similarity-target 0.99 --adapt-up 1.5 --adapt-every 10 "
           "--metrics-out " +
               metrics + " --ledger-out " + ledger);
  ledger_is_good(dir, ledger);
  const std::string text = file_text(metrics);
  BOOST_TEST(text.find("\"step\":1,\"epoch\":1,\"generation\":1") != std::string::npos);
  BOOST_TEST(text.find("\"global_batch\":32,") != std::string::npos);
  BOOST_TEST(text.find("\"global_batch\":256,") != std::string::npos);
  BOOST_TEST(text.find("{\"epoch\":3,\"test_accuracy\":") != std::string::npos);
}

// With a profile of this machine the batch goes where the most progress per second is: here large
// ones cost next to nothing.
BOOST_AUTO_TEST_CASE(goodput_follows_a_given_profile) {
  const TempDir dir;
  const std::string metrics = (dir / "metrics.jsonl").string(),
                    profile = (dir / "p.json").string();
  std::ofstream(profile) << R"({"jabas_profile": 1, "types": {"cpu": {"points": [
    {"local_batch": 16, "forward_s": 0.01, "backward_s": 0.02},
    {"local_batch": 256, "forward_s": 0.0101, "backward_s": 0.0201}]}}})";
  succeeds(dir,
           "train --model mlp --subset 4000 --epochs 2 --local 2 --batch-min 32 --batch-max 256 "
           "--batch-policy goodput --adapt-every 10 --profile " +
               profile + " --metrics-out " + metrics);
  BOOST_TEST(file_text(metrics).find("\"global_batch\":256,") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(resume_equals_the_unbroken_run) {
  const std::string common =
      "train --model cnn --subset 1000 --local 2 --local-batch 16 --virtual-workers 4 ";
  const Weights unbroken = trained(common + "--epochs 3");
  const TempDir dir;
  const std::string state = (dir / "state").string(), exported = (dir / "w.safetensors").string();
  succeeds(dir, common + "--epochs 2 --state " + state);
  succeeds(dir, common + "--epochs 3 --resume --state " + state + " --export " + exported);
  BOOST_TEST(largest_difference(unbroken, read_weights(exported)) <= 1e-6);
}

// The averages of the gradient travel to joiners and through checkpoints. In double, since Adam
// enlarges rounding.
BOOST_AUTO_TEST_CASE(adamw_survives_resizes_and_a_resume) {
  const std::string common =
      "train --model mlp --subset 1000 --local-batch 16 --virtual-workers 4 --precision fp64 "
      "--optimizer adamw --eps 1e-4 --clip-norm 1 ";
  const Weights unbroken = trained(common + "--local 2 --epochs 3");
  BOOST_TEST(largest_difference(unbroken, trained(common + "--local 1,3,2 --epochs 3")) <= 1e-8);
  const TempDir dir;
  const std::string state = (dir / "state").string(), exported = (dir / "w.safetensors").string();
  succeeds(dir, common + "--local 2 --epochs 2 --state " + state);
  succeeds(dir,
           common + "--local 3 --epochs 3 --resume --state " + state + " --export " + exported);
  BOOST_TEST(largest_difference(unbroken, read_weights(exported)) <= 1e-8);
}

// The whole run is killed without warning and resumed with another batch: its ledger is still
// exact.
BOOST_AUTO_TEST_CASE(a_killed_run_resumes_and_its_ledger_holds) {
  const TempDir dir;
  const std::string state = (dir / "state").string(), ledger = (dir / "ledger").string();
  const std::string common =
      "train --model mlp --subset 3000 --epochs 4 --local 2 --local-batch 8 --state " + state +
      " --ledger-out " + ledger + " --virtual-workers ";
  {
    ProgramRun run(dir.path(), common + "2");
    BOOST_TEST_REQUIRE(wait_until(std::chrono::seconds(120),
                                  [&] { return fs::exists(state + "/checkpoint-000001"); }));
    run.kill(SIGKILL);
    BOOST_TEST(run.wait() == 128 + SIGKILL);
  }
  succeeds(dir, common + "2 --resume");
  ledger_is_good(dir, ledger);
}

BOOST_AUTO_TEST_CASE(a_killed_worker_does_not_end_the_run) {
  const TempDir dir;
  const std::string ledger = (dir / "ledger").string(), metrics = (dir / "m.jsonl").string();
  ProgramRun run(
      dir.path(),
      "train --model mlp --subset 6000 --epochs 3 --local 3 --local-batch 8 --virtual-workers 3 "
      "--metrics-out " +
          metrics + " --ledger-out " + ledger);
  BOOST_TEST_REQUIRE(
      wait_until(std::chrono::seconds(120), [&] { return !file_text(metrics).empty(); }));
  const auto workers = run.children();
  BOOST_TEST_REQUIRE(workers.size() == 3U);
  ::kill(workers[1], SIGKILL);
  BOOST_TEST(run.wait() == 0, run.err());
  BOOST_TEST(
      run.out().find("was lost (killed by signal 9 (Killed)); the run goes on with 2 workers") !=
          std::string::npos,
      run.out());
  ledger_is_good(dir, ledger);
}

BOOST_AUTO_TEST_CASE(an_interrupt_stops_after_a_checkpoint_and_leaves_no_process) {
  const TempDir dir;
  const std::string state = (dir / "state").string(), metrics = (dir / "m.jsonl").string();
  ProgramRun run(dir.path(), "train --model mlp --epochs 50 --local 2 --state " + state +
                                 " --metrics-out " + metrics);
  BOOST_TEST_REQUIRE(
      wait_until(std::chrono::seconds(120), [&] { return !file_text(metrics).empty(); }));
  const auto workers = run.children();
  run.kill(SIGINT);
  BOOST_TEST(run.wait() == 130);
  BOOST_TEST(fs::exists(state + "/checkpoint-000001"));
  for (const pid_t pid : workers) BOOST_TEST(::kill(pid, 0) != 0);
}

// A worker must not outlive the program that started it.
BOOST_AUTO_TEST_CASE(workers_die_with_their_controller) {
  const TempDir dir;
  const std::string metrics = (dir / "m.jsonl").string();
  ProgramRun run(dir.path(), "train --model mlp --epochs 50 --local 2 --metrics-out " + metrics);
  BOOST_TEST_REQUIRE(
      wait_until(std::chrono::seconds(120), [&] { return !file_text(metrics).empty(); }));
  const auto workers = run.children();
  BOOST_TEST_REQUIRE(workers.size() == 2U);
  run.kill(SIGKILL);
  run.wait();
  for (const pid_t pid : workers) {
    BOOST_TEST(wait_until(std::chrono::seconds(20), [&] { return ::kill(pid, 0) != 0; }));
  }
}

// Each step sleeps until the profile's time has passed; the type is the profile's first.
BOOST_AUTO_TEST_CASE(emulated_devices_take_the_profiles_time) {
  const TempDir dir;
  const std::string path =
      std::string(std::getenv("JABAS_SOURCE_DIR")) + "/sbatch_templates/quickstart_profile.json";
  const jabas::Profile profile = jabas::load_profile(path);
  const double step_s = jabas::compute_time_s(profile, profile.types.begin()->first, 32, 1, 0);
  const double scale = 0.5 / step_s;  // half a second each
  const auto begin = std::chrono::steady_clock::now();
  const std::string out = succeeds(
      dir,
      "train --model mlp --subset 640 --local 2 --local-batch 32 --device emulated --emulate " +
          path + " --emulate-scale " + std::to_string(scale));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  BOOST_TEST(out.find("emulated devices") != std::string::npos, out);
  BOOST_TEST(out.find("steps too slow)") != std::string::npos, out);
  BOOST_TEST(elapsed.count() >= 10 * 0.5);
}

BOOST_AUTO_TEST_SUITE_END()
