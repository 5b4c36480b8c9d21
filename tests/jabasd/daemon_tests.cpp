// The whole daemon over a fake Slurm: real control channel, scripted workers.
#include <boost/test/unit_test.hpp>

#include "tests/jabasd/daemon_scene.h"

using namespace jabas;

namespace {

TrainingSpec four_epochs() { return fixed_batch_run(4); }

struct Fixture : DaemonScene {
  explicit Fixture(const std::vector<std::string>& arguments) : DaemonScene(arguments) {
    runner.slurm().set_node("n1", "v100", 2, 0);
    runner.slurm().set_node("n2", "p100", 2, 0, /*usable=*/false);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(daemon_tests)

BOOST_AUTO_TEST_CASE(starts_grows_releases_and_finishes) {
  Fixture f({"--jabas-gpus=v100:0-2,p100:0-2", "--jabas-objective=balanced"});
  f.runner.start();
  f.world.say_hello(four_epochs());
  f.until_records("switched", 1);
  BOOST_TEST(f.world.trained_gpus()["v100"] == 2);
  BOOST_TEST(f.world.trained_gpus()["p100"] == 0);
  BOOST_TEST(f.runner.count_with("decision", "\"action\":\"start\"") == 1);

  // P100s appear at a good price: the decision before the boundary asks for them, they
  // join there.
  f.runner.slurm().set_node("n2", "p100", 2, 0);
  f.runner.write_prices(1, 0.4);
  f.world.progress(1, 4);
  f.until_records("decision", 2);
  BOOST_TEST(f.runner.count_with("decision", "\"action\":\"grow\"") == 1);
  BOOST_TEST(f.world.trained_gpus()["p100"] == 0);  // not before the boundary
  f.world.until("all four are in the committed generation",
                [&] { return f.world.committed_size() == 4; });
  // The next epoch counts as short, so its decision is made at once: the prices it will see must
  // stand by then. The P100s become absurdly dear: released at the next boundary, their jobs end.
  f.runner.write_prices(1, 1e6);
  f.world.end_epoch(1);
  f.until_records("switched", 2);
  BOOST_TEST(f.world.trained_gpus()["p100"] == 2);
  BOOST_TEST(f.world.training().front().gpu_type == "v100");  // survivors first
  BOOST_TEST(
      f.runner.last("switched").find("\"before\":{\"v100\":2},\"after\":{\"p100\":2,\"v100\":2}") !=
      std::string::npos);

  f.world.progress(2, 4);
  f.until_records("decision", 3);
  BOOST_TEST(f.runner.count_with("decision", "\"action\":\"shrink\"") == 1);
  f.world.until("the switch is committed", [&] { return f.world.switch_committed(); });
  f.runner.slurm().set_node("n2", "p100", 2, 2);
  f.world.end_epoch(2);
  f.until_records("switched", 3);
  BOOST_TEST(f.world.trained_gpus()["p100"] == 0);
  f.world.until("the released jobs are gone", [&] { return f.runner.slurm().alive_jobs() == 2; });

  f.world.progress(3, 4);
  f.until_records("decision", 4);
  f.world.end_epoch(3);
  f.until_records("epoch", 3);
  f.world.finish(4);
  f.until_records("end", 1);
  f.world.until("the console is told", [&] { return !f.world.console_stops().empty(); });
  BOOST_TEST(f.world.console_stops().front().exit_code == 0);
  BOOST_TEST(f.world.console_stops().front().reason.rfind("finished: 4 epochs in ", 0) == 0u);
  BOOST_TEST(f.runner.slurm().alive_jobs() == 0);
  BOOST_TEST(f.runner.last("end").find("\"state\":\"completed\"") != std::string::npos);
  BOOST_TEST(f.runner.count("decision") == 4);  // exactly one per boundary, and the start
  BOOST_TEST(f.runner.daemon().undefined_events() == 0);
  f.runner.stop();
}

BOOST_AUTO_TEST_CASE(a_swap_keeps_one_member_that_has_the_state) {
  Fixture f({"--jabas-gpus=v100:0-2,p100:0-2", "--jabas-objective=cost"});
  f.runner.start();
  f.world.say_hello(four_epochs());
  f.until_records("switched", 1);
  f.runner.slurm().set_node("n2", "p100", 2, 0);
  f.runner.write_prices(1e6, 0.001);
  f.world.progress(1, 4);
  f.until_records("decision", 2);
  f.world.until("the switch is committed", [&] { return f.world.switch_committed(); });
  f.world.end_epoch(1);
  f.until_records("switched", 2);
  BOOST_TEST(f.world.trained_gpus()["v100"] == 1);
  BOOST_TEST(f.world.trained_gpus()["p100"] >= 1);
  BOOST_TEST(f.world.training().front().gpu_type == "v100");
  BOOST_TEST(f.runner.count_with("warning", "stays for one more epoch") == 1);
  f.world.progress(2, 4);
  f.world.until("the switch is committed", [&] { return f.world.switch_committed(); });
  f.world.end_epoch(2);
  f.until_records("switched", 3);
  BOOST_TEST(f.world.trained_gpus()["v100"] == 0);
  f.runner.stop();
}

BOOST_AUTO_TEST_CASE(waits_for_the_minimum_and_says_why) {
  Fixture f({"--jabas-gpus=v100:2-2"});
  f.runner.slurm().set_pending_reason("Resources");
  f.runner.start();
  f.world.say_hello(four_epochs());
  f.world.until("the reason", [&] {
    return f.world.last_status().note.find("Resources") != std::string::npos ||
           f.runner.count_with("member", "Resources") > 0;
  });
  BOOST_TEST(f.runner.count("switched") == 0);
  BOOST_TEST(f.runner.slurm().alive_jobs() == 2);
  f.runner.stop();
  BOOST_TEST(f.runner.slurm().alive_jobs() == 0);  // nothing outlives the daemon
  BOOST_TEST(f.runner.last("end").find("\"state\":\"cancelled\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_lost_answer_of_sbatch_does_not_double_the_request) {
  Fixture f({"--jabas-gpus=v100:2-2"});
  f.runner.slurm().lose_answers(1);
  f.runner.start();
  f.world.say_hello(four_epochs());
  f.until_records("switched", 1);
  BOOST_TEST(f.runner.slurm().submissions().size() == 2u);
  f.runner.stop();
}

BOOST_AUTO_TEST_CASE(a_refused_request_is_journalled_and_not_repeated_at_once) {
  Fixture f({"--jabas-gpus=v100:2-2"});
  f.runner.timings().waiting_note_s = 0.1;
  f.runner.slurm().refuse("sbatch: error: QOSMaxSubmitJobPerUserLimit");
  f.runner.start();
  f.world.say_hello(four_epochs());
  f.until_records("submit_failed", 2);
  f.world.until("the note", [&] {
    return f.world.last_status().note == "waiting: no GPU can be asked for now";
  });
  BOOST_TEST(f.runner.slurm().submissions().size() == 2u);
  f.runner.stop();
}

BOOST_AUTO_TEST_CASE(survivors_of_a_killed_worker_go_on) {
  Fixture f({"--jabas-gpus=v100:0-2"});
  f.runner.start();
  f.world.say_hello(four_epochs());
  f.until_records("switched", 1);
  const std::string victim = f.world.training()[1].worker_id,
                    survivor = f.world.training()[0].worker_id;
  f.runner.slurm().set_node("n1", "v100", 2, 2);
  f.runner.slurm().set_pending_reason("Resources");  // no replacement for now
  f.world.kill_worker(victim);
  f.world.fault(1, survivor);
  f.until_records("switched", 2);
  BOOST_TEST(f.world.training().size() == 1u);
  BOOST_TEST(f.world.training()[0].worker_id == survivor);
  BOOST_TEST(f.world.generation() == 2);
  f.world.progress(1, 100);
  BOOST_TEST(f.runner.daemon().undefined_events() == 0);
  f.runner.stop();
}

BOOST_AUTO_TEST_CASE(all_workers_lost_means_waiting_and_new_members) {
  Fixture f({"--jabas-gpus=v100:0-1"});
  f.runner.start();
  f.world.say_hello(four_epochs());
  f.until_records("switched", 1);
  const long job = std::stol(f.world.training()[0].worker_id);
  f.world.kill_worker(f.world.training()[0].worker_id);
  f.runner.slurm().end_job(job, "NODE_FAIL");
  f.until_records("switched", 2);
  BOOST_TEST(f.runner.slurm().submissions().size() == 2u);
  BOOST_TEST(f.runner.count_with("member", "\"state\":\"lost\"") == 1);
  f.runner.stop();
}

// squeue may know the end of the job before its worker's `finished` has arrived.
BOOST_AUTO_TEST_CASE(last_words_count_after_the_job_has_ended) {
  Fixture f({"--jabas-gpus=v100:0-1"});
  f.runner.timings().last_words_s = 10;
  f.runner.start();
  TrainingSpec spec = four_epochs();
  spec.epochs = 1;
  f.world.say_hello(spec);
  f.until_records("switched", 1);
  f.runner.slurm().end_job(std::stol(f.world.training()[0].worker_id), "COMPLETED");
  f.world.until("the end of the job",
                [&] { return f.runner.count_with("member", "COMPLETED") == 1; });
  f.world.finish(1);
  f.until_records("end", 1);
  BOOST_TEST(f.runner.last("end").find("\"state\":\"completed\"") != std::string::npos);
  f.runner.stop();
}

BOOST_AUTO_TEST_CASE(base_gpus_train_first_and_are_never_asked_for) {
  DaemonRunner runner({"--jabas-gpus=v100:0-3"});
  LeadInfo lead;
  lead.gpus = {{"v100", 2}};
  runner.slurm().set_lead(lead);
  runner.slurm().set_node("n1", "v100", 4, 2);
  FakeWorld world(&runner.slurm(), runner.run_dir(), /*base_workers=*/2);
  runner.start();
  world.say_hello(four_epochs());
  world.until("a generation", [&] { return runner.count("switched") == 1; });
  BOOST_TEST(world.training().at(0).worker_id == "7.0");
  BOOST_TEST(world.training().at(0).gpu_type == "v100");
  BOOST_TEST(world.training().at(1).worker_id == "7.1");
  BOOST_TEST(runner.slurm().submissions().size() <= 1u);
  BOOST_TEST(runner.count_with("train", "\"base\":{\"v100\":2}") == 1);
  runner.stop();
}

BOOST_AUTO_TEST_CASE(a_second_train_is_refused_while_one_runs_and_welcome_afterwards) {
  Fixture f({"--jabas-gpus=v100:0-1"});
  f.runner.start();
  TrainingSpec spec = four_epochs();
  spec.epochs = 1;
  f.world.say_hello(spec);
  f.until_records("switched", 1);
  FakeWorld second(&f.runner.slurm(), f.runner.run_dir());
  second.say_hello(spec, {}, "console.2");
  f.world.until("the refusal", [&] {
    const auto envelope = second.console().receive();
    const Stop* stop = envelope ? std::get_if<Stop>(&envelope->message) : nullptr;
    return stop != nullptr && stop->exit_code == 2 &&
           stop->reason ==
               "a train of this job is running already; start the next one when it has ended";
  });
  f.world.finish(1);
  f.until_records("end", 1);
  f.world.say_hello(spec);
  f.until_records("switched", 2);
  BOOST_TEST(f.runner.last("switched").find("\"run\":2") != std::string::npos);
  BOOST_TEST(f.runner.count_with("request", "\"request\":2") == 1);  // numbers go on
  f.runner.stop();
}

// An exit code above 128 tells of a signal: somebody cancelled the job.
BOOST_AUTO_TEST_CASE(a_console_that_goes_ends_the_run) {
  for (const auto& [code, state] :
       std::vector<std::pair<int, std::string>>{{143, "cancelled"}, {3, "failed"}}) {
    Fixture f({"--jabas-gpus=v100:0-1"});
    f.runner.start();
    f.world.say_hello(four_epochs());
    f.until_records("switched", 1);
    f.world.console().send(ConsoleBye{code});
    f.until_records("end", 1);
    BOOST_TEST(f.runner.last("end").find("\"state\":\"" + state +
                                         "\",\"reason\":\"the console ended with exit code " +
                                         std::to_string(code) + "\"") != std::string::npos);
    BOOST_TEST(f.runner.slurm().alive_jobs() == 0);
    f.runner.stop();
  }
}

BOOST_AUTO_TEST_CASE(conflicting_batch_options_are_refused) {
  Fixture f({"--jabas-gpus=v100:0-1", "--jabas-batch=128-512"});
  f.runner.start();
  f.world.say_hello(four_epochs(), {"--batch-min", "64"});
  f.world.until("the refusal", [&] { return !f.world.console_stops().empty(); });
  BOOST_TEST(f.world.console_stops()[0].exit_code == 2);
  BOOST_TEST(f.world.console_stops()[0].reason ==
             "--batch-min: the job was submitted with --jabas-batch=128-512, which sets the batch; "
             "give one of the two");
  BOOST_TEST(f.runner.count("train") == 0);
  f.runner.stop();
}

BOOST_AUTO_TEST_CASE(slurm_that_does_not_answer_postpones_the_decision) {
  Fixture f({"--jabas-gpus=v100:0-1"});
  f.runner.slurm().set_down(true);
  f.runner.start();
  f.world.say_hello(four_epochs());
  f.world.until("the postponement",
                [&] { return f.runner.count_with("warning", "postponed") == 1; });
  BOOST_TEST(f.runner.count("decision") == 0);
  f.runner.slurm().set_down(false);
  f.until_records("switched", 1);
  f.runner.stop();
}

BOOST_AUTO_TEST_SUITE_END()
