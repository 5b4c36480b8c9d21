// A daemon without a profile: who measures what, and what becomes of it.
#include <boost/test/unit_test.hpp>

#include "tests/jabasd/daemon_scene.h"

using namespace jabas;

namespace {

TrainingSpec four_epochs() {
  TrainingSpec spec = fixed_batch_run(4);
  spec.train_samples = 10000;
  return spec;
}

struct Fixture : DaemonScene {
  explicit Fixture(const std::vector<std::string>& arguments) : DaemonScene(arguments) {
    runner.without_profile();
    runner.slurm().set_node("n1", "v100", 2, 0);
    runner.slurm().set_node("n2", "p100", 2, 0);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(daemon_calibration_tests)

// At first the V100s look faster and as cheap; a P100 is asked for to be measured, turns out to be
// four times as fast, and is what the run goes on with.
BOOST_AUTO_TEST_CASE(a_type_that_is_not_wanted_is_measured_and_then_used) {
  Fixture f({"--jabas-gpus=v100:0-2,p100:0-2", "--jabas-objective=cost"});
  f.world.s_per_sample = {{"v100", 4e-3}, {"p100", 1e-3}};
  f.runner.start();
  f.world.say_hello(four_epochs());
  f.until_records("switched", 1);
  f.until_records("calibration", 2);
  BOOST_TEST(f.world.trained_gpus()["p100"] == 0);
  BOOST_TEST(f.world.calibrated().size() == 2u);  // one worker of each type
  BOOST_TEST(f.runner.count_with("decision", "p100: its speed is not known: 1 GPU is asked for") ==
             1);
  const int training = int(f.world.training().size());
  f.world.until("the measured GPU is given back",
                [&] { return f.runner.slurm().alive_jobs() == training; });
  f.world.progress(1, 4);
  f.until_records("decision", 2);
  BOOST_TEST(f.runner.last("decision").find("\"before\":{\"v100\"") != std::string::npos);
  BOOST_TEST(f.runner.last("decision").find("\"after\":{\"p100\"") != std::string::npos,
             f.runner.last("decision"));
  BOOST_TEST(f.world.calibrated().size() == 2u);  // nobody is asked again
  f.runner.stop();
}

BOOST_AUTO_TEST_CASE(a_gpu_that_does_not_answer_is_not_waited_for) {
  Fixture f({"--jabas-gpus=v100:0-2,p100:0-2", "--jabas-objective=cost"});
  f.world.answer_calibrations = false;
  f.runner.start();
  f.world.say_hello(four_epochs());
  f.until_records("switched", 1);
  f.world.until("the P100 was asked for",
                [&] { return f.runner.slurm().alive_jobs() > int(f.world.training().size()); });
  f.world.until("both are asked", [&] { return f.world.calibrated().size() == 2u; });
  f.world.progress(1, 4);
  f.until_records("decision", 2);
  BOOST_TEST(f.runner.last("decision").find("\"before\":{\"v100\"") != std::string::npos);
  BOOST_TEST(f.runner.count("calibration") == 0);
  f.runner.stop();
}

// Steps take twice what was measured at first: it is recorded, and the next decision says so.
BOOST_AUTO_TEST_CASE(measured_steps_correct_the_model) {
  Fixture f({"--jabas-gpus=v100:2-2", "--jabas-objective=time"});
  f.runner.start();
  f.world.say_hello(four_epochs());
  f.until_records("switched", 1);
  BOOST_TEST(f.runner.count("calibration") == 1);
  for (int i = 0; i < 3; ++i) f.world.worker_times(0.064);
  f.world.progress(1, 4);
  f.until_records("decision", 2);
  BOOST_TEST_REQUIRE(f.runner.count("correction") == 1);
  BOOST_TEST(
      f.runner.last("correction").find("\"gpu_type\":\"v100\",\"factor\":1.9") != std::string::npos,
      f.runner.last("correction"));
  BOOST_TEST(f.runner.count_with("decision", "v100: measured times are 1.9") +
                 f.runner.count_with("decision", "v100: measured times are 2 times") ==
             1);
  f.runner.stop();
}

// A restarted daemon knows what was measured before and asks for nothing again.
BOOST_AUTO_TEST_CASE(a_restart_keeps_what_was_measured) {
  Fixture f({"--jabas-gpus=v100:0-2,p100:0-2", "--jabas-objective=cost"});
  f.runner.start();
  f.world.say_hello(four_epochs());
  f.until_records("switched", 1);
  f.until_records("calibration", 2);
  f.runner.crash();
  f.runner.start();
  f.world.say_hello_again();
  f.world.until("adoption",
                [&] { return f.runner.count_with("warning", "adopted the run in epoch 1") == 1; });
  f.world.progress(1, 4);
  f.until_records("decision", 2);
  BOOST_TEST(f.runner.last("decision").find("\"notes\":[]") != std::string::npos,
             f.runner.last("decision"));
  BOOST_TEST(f.world.calibrated().size() == 2u);
  f.runner.stop();
}

BOOST_AUTO_TEST_SUITE_END()
