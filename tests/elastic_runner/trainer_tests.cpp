#include <boost/test/unit_test.hpp>
#include <map>
#include <mutex>
#include <random>

#include "elastic_runner/ledger_check.h"
#include "elastic_runner/split_table.h"
#include "elastic_runner/trainer.h"
#include "tests/elastic_runner/training_harness.h"
#include "tests/support/temp_dir.h"

using namespace jabas;
using namespace jabas::testing;

namespace {

TrainingSpec small_spec(int epochs) {
  TrainingSpec spec;
  spec.model = "fake";
  spec.train_samples = 203;
  spec.epochs = epochs;
  spec.local_batch = 4;
  spec.virtual_workers = 6;
  spec.batch_min = spec.batch_max = spec.batch_initial = 24;
  spec.seed = 5;
  spec.workers_per_epoch = {1};  // rank 0 waits for the resize; set to the real numbers by run()
  return spec;
}

// Adapts by the published rule, through resizes.
TrainingSpec growing_spec(int epochs) {
  TrainingSpec spec = small_spec(epochs);
  spec.workers_per_epoch = {2, 3, 1, 2};
  spec.adaptive = true;
  spec.batch_max = 96;
  spec.adapt_every = 5;
  spec.batch_policy = "paper";
  spec.adapt_up = 1.5;
  spec.similarity_target = 0.5;
  return spec;
}

// Trains with `workers` in each epoch; returns the final weights of the last rank 0.
std::vector<double> weights_of(TrainingSpec spec, std::vector<int> workers) {
  spec.workers_per_epoch = workers;
  TrainingHarness run(spec);
  run.start([&](int epoch) { return workers[std::size_t(epoch) - 1]; });
  BOOST_TEST_REQUIRE(run.wait());
  std::vector<double> weights;
  for (std::size_t i = 0; i < run.workers(); ++i) {
    const auto& worker = run.worker(int(i));
    BOOST_TEST((worker.exit_code == ExitCode::kOk));
    if (worker.state.epoch > spec.epochs) weights = worker.weights;
  }
  BOOST_TEST(run.count<Finished>() == 1);
  return weights;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(trainer_tests)

BOOST_AUTO_TEST_CASE(any_number_of_workers_gives_the_same_weights) {
  const auto one = weights_of(small_spec(2), {1, 1});
  BOOST_TEST(weights_of(small_spec(2), {3, 3}) == one, boost::test_tools::per_element());
  BOOST_TEST(weights_of(small_spec(2), {6, 6}) == one, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(hints_name_the_slices_of_the_next_step) {
  TrainingSpec spec = small_spec(2);
  spec.readers = 1;
  spec.workers_per_epoch = {2, 2};
  TrainingHarness run(spec);
  std::mutex mutex;
  std::map<std::string, StepPlan> last;  // by worker
  int right = 0, wrong = 0;
  run.before_step = [&](const std::string& id, const StepPlan& plan) {
    const std::lock_guard lock(mutex);
    const auto before = last.find(id);
    if (before != last.end() && before->second.epoch == plan.epoch)
      ++(before->second.next_slices == plan.slices ? right : wrong);
    else if (before != last.end())
      wrong += before->second.next_slices.empty() ? 0 : 1;  // nothing is known of the next epoch
    last[id] = plan;
  };
  run.start([](int) { return 2; });
  BOOST_TEST_REQUIRE(run.wait());
  BOOST_TEST(right == 2 * 2 * 8);  // nine steps in each epoch, the last one smaller
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(random_resizes_keep_weights_and_ledger) {
  const std::uint32_t seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  constexpr int kEpochs = 8;
  const auto unbroken = weights_of(small_spec(kEpochs), std::vector<int>(kEpochs, 2));
  for (int round = 0; round < 3; ++round) {
    const TempDir dir;
    auto spec = small_spec(kEpochs);
    spec.ledger_dir = dir.path();
    std::vector<int> workers;
    for (int i = 0; i < kEpochs; ++i)
      workers.push_back(std::uniform_int_distribution<int>(1, 5)(random));
    BOOST_TEST(weights_of(spec, workers) == unbroken, boost::test_tools::per_element());
    const LedgerReport report = check_ledger(dir.path());
    BOOST_TEST(report.problems.empty(), report.summary);
  }
}

BOOST_AUTO_TEST_CASE(one_report_and_one_switch_per_epoch_and_generation) {
  auto spec = small_spec(3);
  spec.workers_per_epoch = {2, 3, 3};
  TrainingHarness run(spec);
  run.start([&](int epoch) { return workers_in_epoch(spec.workers_per_epoch, epoch); });
  BOOST_TEST_REQUIRE(run.wait());
  const auto reports = run.all<EpochReport>();
  BOOST_TEST_REQUIRE(reports.size() == 3U);
  for (int epoch = 1; epoch <= 3; ++epoch) {
    const auto& report = reports[std::size_t(epoch) - 1];
    BOOST_TEST(report.epoch == epoch);
    BOOST_TEST(report.samples == 203);
    BOOST_TEST(report.steps == 9);  // ⌈203/24⌉
    BOOST_TEST(report.last_step == 9 * epoch);
    BOOST_TEST(report.test_accuracy == 0.75);
  }
  const auto switches = run.all<Switched>();
  BOOST_TEST_REQUIRE(switches.size() == 2U);
  BOOST_TEST(switches[0].pause_s == 0.0);
  BOOST_TEST(switches[1].epoch == 2);
  BOOST_TEST(switches[1].step == 10);
  BOOST_TEST(switches[1].pause_s > 0.0);
}

// A worker is killed in the middle of an epoch: the others go on, nothing is lost or doubled.
BOOST_AUTO_TEST_CASE(a_killed_worker_costs_nothing) {
  const auto unbroken = weights_of(small_spec(3), {3, 3, 3});
  for (const char* victim : {"w.0", "w.1", "w.2"}) {
    const TempDir dir;
    auto spec = small_spec(3);
    spec.ledger_dir = dir.path();
    spec.workers_per_epoch = {3, 2, 2};
    TrainingHarness run(spec);
    std::atomic<int> kills = 0;
    run.before_step = [&](const std::string& id, const StepPlan& plan) {
      if (id == victim && plan.step == 5) {
        ++kills;
        throw Killed{};
      }
    };
    run.start([&](int epoch) { return epoch == 1 && kills == 0 ? 3 : 2; });
    BOOST_TEST_REQUIRE(run.wait());
    BOOST_TEST(kills == 1);
    BOOST_TEST(run.count<Fault>() >= 1);
    for (std::size_t i = 0; i < run.workers(); ++i) {
      if (run.worker(int(i)).state.epoch > 3)
        BOOST_TEST(run.worker(int(i)).weights == unbroken, boost::test_tools::per_element());
    }
    const LedgerReport report = check_ledger(dir.path());
    BOOST_TEST(report.problems.empty(), report.summary);
  }
}

BOOST_AUTO_TEST_CASE(a_lost_lease_ends_all_after_a_checkpoint) {
  const TempDir dir;
  auto spec = small_spec(50);
  spec.workers_per_epoch = {3};
  spec.checkpoint_dir = dir.path();
  TrainingHarness run(spec);
  run.recovers = false;
  run.before_step = [&](const std::string& id, const StepPlan& plan) {
    if (id == "w.2" && plan.step == 12) run.worker(2).lease_is_lost = true;
  };
  run.start([](int) { return 3; });
  BOOST_TEST_REQUIRE(run.wait());
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST((run.worker(i).exit_code == ExitCode::kDaemonLost));
    BOOST_TEST(run.worker(i).state.step == run.worker(0).state.step);
  }
  const auto found = find_newest_checkpoint(dir.path(), training_identity(spec));
  BOOST_TEST(found.state.step == run.worker(0).state.step);
}

BOOST_AUTO_TEST_CASE(stop_writes_a_checkpoint_and_resume_equals_the_unbroken_run) {
  const auto unbroken = weights_of(small_spec(3), {2, 2, 2});
  const TempDir dir;
  auto spec = small_spec(3);
  spec.workers_per_epoch = {2};
  spec.checkpoint_dir = dir.path();
  {
    TrainingHarness run(spec);
    run.recovers = false;
    run.before_step = [&](const std::string& id, const StepPlan& plan) {
      if (id == "w.0" && plan.step == 13) run.stop_all();  // in the middle of epoch 2
    };
    run.start([](int) { return 2; });
    BOOST_TEST_REQUIRE(run.wait());
    BOOST_TEST(run.count<Finished>() == 0);
    BOOST_TEST((run.worker(0).exit_code == ExitCode::kOk));
  }
  spec.resume_dir = dir.path();
  BOOST_TEST(weights_of(spec, {3, 3, 3}) == unbroken, boost::test_tools::per_element());
}

// One worker must go (release): the others regroup without losing a step.
BOOST_AUTO_TEST_CASE(a_released_worker_leaves_at_an_agreed_step) {
  const auto unbroken = weights_of(small_spec(2), {2, 2});
  auto spec = small_spec(2);
  spec.workers_per_epoch = {3, 2};
  TrainingHarness run(spec);
  std::atomic<bool> released = false;
  run.before_step = [&](const std::string& id, const StepPlan& plan) {
    if (id == "w.1" && plan.step == 4 && !released.exchange(true))
      run.worker(1).orders.handle(Release{"preempted"});
  };
  run.start([&](int) { return released ? 2 : 3; });
  BOOST_TEST_REQUIRE(run.wait());
  BOOST_TEST((run.worker(1).exit_code == ExitCode::kOk));
  BOOST_TEST(run.worker(1).state.step == 5);  // its flags of step 4 were already set
  BOOST_TEST(run.worker(0).weights == unbroken, boost::test_tools::per_element());
}

// A joiner leaves just when its communicator is built: the switch fails or is taken back, the run
// goes on.
BOOST_AUTO_TEST_CASE(a_joiner_that_vanishes_does_not_stop_the_run) {
  const auto unbroken = weights_of(small_spec(4), {2, 2, 2, 2});
  const TempDir dir;
  auto spec = small_spec(4);
  spec.ledger_dir = dir.path();
  spec.workers_per_epoch = {2, 3, 3, 3};
  TrainingHarness run(spec);
  std::atomic<int> vanished = 0;
  run.on_message = [&](const std::string& from, const Message& message) {
    if (from == "w.2" && std::holds_alternative<Built>(message) && vanished.exchange(1) == 0) {
      run.worker(2).orders.handle(Release{"gone"});
    }
  };
  run.start([](int epoch) { return epoch == 1 ? 2 : 3; });
  BOOST_TEST_REQUIRE(run.wait());
  BOOST_TEST(vanished == 1);
  BOOST_TEST(run.count<Finished>() == 1);
  BOOST_TEST(run.worker(0).weights == unbroken, boost::test_tools::per_element());
  BOOST_TEST(check_ledger(dir.path()).problems.empty());
}

// Killed between the last step and the switch: nothing is trained or reported twice.
BOOST_AUTO_TEST_CASE(a_worker_killed_in_evaluation_costs_nothing) {
  const auto unbroken = weights_of(small_spec(3), {3, 3, 3});
  const TempDir dir;
  auto spec = small_spec(3);
  spec.ledger_dir = dir.path();
  spec.workers_per_epoch = {3, 2, 2};
  TrainingHarness run(spec);
  std::atomic<int> kills = 0;
  run.before_evaluation = [&](const std::string& id) {
    if (id == "w.1" && kills.exchange(1) == 0) throw Killed{};
  };
  run.start([&](int) { return kills == 0 ? 3 : 2; });
  BOOST_TEST_REQUIRE(run.wait());
  BOOST_TEST(kills == 1);
  BOOST_TEST(run.all<EpochReport>().size() == 3U);
  BOOST_TEST(run.worker(0).weights == unbroken, boost::test_tools::per_element());
  BOOST_TEST(check_ledger(dir.path()).problems.empty());
}

BOOST_AUTO_TEST_CASE(an_adaptive_run_grows_its_batch_and_reports_each_decision) {
  const TempDir dir;
  auto spec = growing_spec(8);
  spec.ledger_dir = dir.path();
  TrainingHarness run(spec);
  run.start([&](int epoch) { return workers_in_epoch(spec.workers_per_epoch, epoch); });
  BOOST_TEST_REQUIRE(run.wait());
  std::vector<BatchDecision> decisions;
  for (const auto& progress : run.all<Progress>()) {
    decisions.insert(decisions.end(), progress.batch_decisions.begin(),
                     progress.batch_decisions.end());
  }
  BOOST_TEST_REQUIRE(decisions.size() >= 3U);
  BOOST_TEST(decisions[0].step == 6);
  BOOST_TEST(decisions[0].wanted_batch == 36.0);
  BOOST_TEST(decisions[0].global_batch == 36);
  BOOST_TEST(decisions[0].similarity == 0.1, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(decisions.back().global_batch == 96);
  BOOST_TEST(check_ledger(dir.path()).problems.empty());
}

// With fixed costs per step and much noise more workers pay off; the profile of the plan says so.
BOOST_AUTO_TEST_CASE(goodput_follows_the_profile_of_the_plan) {
  auto spec = small_spec(3);
  spec.workers_per_epoch = {2};
  spec.adaptive = true;
  spec.batch_max = 96;
  spec.adapt_every = 5;
  spec.batch_policy = "goodput";
  Profile profile;
  auto& type = profile.types["v100"];
  for (const std::int64_t b : {4, 8})
    type.points.push_back({b, 1, 0, 1e-3 * double(b), 1e-3 * double(b), 0.5, 0, 0});
  type.max_streams = {{4, 1}, {8, 1}};
  profile.bucket_bytes = {1e6};
  profile.intra = profile.inter = {1e9, {{0.0, 0.0}, {1.0, 1.0}}};
  TrainingHarness run(spec);
  run.gpu_type = "v100";
  run.profile_json = to_json_text(profile);
  run.start([](int) { return 2; });
  BOOST_TEST_REQUIRE(run.wait());
  std::vector<BatchDecision> decisions;
  for (const auto& progress : run.all<Progress>())
    decisions.insert(decisions.end(), progress.batch_decisions.begin(),
                     progress.batch_decisions.end());
  BOOST_TEST_REQUIRE(decisions.size() >= 2U);
  BOOST_TEST(decisions[0].wanted_batch == 48.0);  // at most twice the last one
  BOOST_TEST(decisions[0].reason.find("most progress per second at batch 96") != std::string::npos,
             decisions[0].reason);
  BOOST_TEST(decisions.back().global_batch == 96);
}

// Warm-up and a linear fall, by samples: the same curve through steps of every size and resizes,
// and the batch's factor on top of it.
BOOST_AUTO_TEST_CASE(the_learning_rate_follows_samples_and_batch) {
  auto spec = growing_spec(4);
  spec.lr = 0.5;
  spec.lr_scaling = "linear";
  spec.lr_schedule = "polynomial";
  spec.warmup_epochs = 1;
  TrainingHarness run(spec);
  std::mutex mutex;
  std::map<std::int64_t, StepPlan> plans;
  run.before_step = [&](const std::string&, const StepPlan& plan) {
    const std::lock_guard lock(mutex);
    const auto [seen, is_new] = plans.emplace(plan.step, plan);
    BOOST_TEST(seen->second.learning_rate == plan.learning_rate);
  };
  run.start([&](int epoch) { return workers_in_epoch(spec.workers_per_epoch, epoch); });
  BOOST_TEST_REQUIRE(run.wait());
  std::map<std::int64_t, std::int64_t> batches{{1, spec.batch_min}};  // by first step
  for (const auto& progress : run.all<Progress>())
    for (const auto& decision : progress.batch_decisions)
      batches[decision.step] = decision.global_batch;
  double seen = 0;
  for (const auto& [step, plan] : plans) {
    const double epochs = (seen + double(plan.step_samples) / 2) / double(spec.train_samples);
    const double factor = epochs < 1 ? epochs : 1 - (epochs - 1) / 3;
    const double ratio =
        double(std::prev(batches.upper_bound(step))->second) / double(spec.batch_min);
    BOOST_TEST(plan.learning_rate == 0.5 * factor * ratio, boost::test_tools::tolerance(1e-9));
    seen += double(plan.step_samples);
  }
  BOOST_TEST(seen == 4.0 * double(spec.train_samples));
}

BOOST_AUTO_TEST_SUITE_END()
