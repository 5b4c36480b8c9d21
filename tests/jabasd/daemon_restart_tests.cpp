// A daemon that dies and is started again while its run goes on.
#include <boost/test/unit_test.hpp>

#include "tests/jabasd/daemon_scene.h"

using namespace jabas;

namespace {

TrainingSpec three_epochs() { return fixed_batch_run(3); }

}  // namespace

BOOST_AUTO_TEST_SUITE(daemon_restart_tests)

BOOST_AUTO_TEST_CASE(a_restarted_daemon_adopts_the_run_on_its_old_port) {
  DaemonRunner runner({"--jabas-gpus=v100:0-2"});
  runner.slurm().set_node("n1", "v100", 2, 0);
  FakeWorld world(&runner.slurm(), runner.run_dir());
  runner.start();
  world.say_hello(three_epochs(), {"--epochs", "3"});
  world.until("a generation", [&] { return runner.count("switched") == 1; });
  const std::string endpoint = runner.daemon().endpoint();
  runner.crash();
  BOOST_TEST(runner.slurm().alive_jobs() == 2);  // a crash cancels nothing
  runner.start();
  BOOST_TEST(runner.daemon().endpoint() == endpoint);
  // Real clients say hello on every reconnection.
  world.say_hello_again();
  world.until("adoption",
              [&] { return runner.count_with("warning", "adopted the run in epoch 1") == 1; });
  world.progress(1, 4);
  world.end_epoch(1);
  world.until("the epoch", [&] { return runner.count("epoch") == 1; });
  world.progress(2, 4);
  world.end_epoch(2);
  world.until("the epoch", [&] { return runner.count("epoch") == 2; });
  world.finish(3);
  world.until("the end", [&] { return runner.count("end") == 1; });
  BOOST_TEST(runner.last("end").find("\"state\":\"completed\"") != std::string::npos);
  BOOST_TEST(runner.count("train") == 1);
  BOOST_TEST(runner.slurm().submissions().size() == 2u);  // nothing was asked for twice
  BOOST_TEST(runner.daemon().undefined_events() == 0);
  runner.stop();
}

BOOST_AUTO_TEST_CASE(a_run_whose_console_does_not_return_is_ended) {
  DaemonRunner runner({"--jabas-gpus=v100:0-2"});
  runner.slurm().set_node("n1", "v100", 2, 0);
  FakeWorld world(&runner.slurm(), runner.run_dir());
  runner.timings().console_silence_s = 1;
  runner.start();
  world.say_hello(three_epochs());
  world.until("a generation", [&] { return runner.count("switched") == 1; });
  runner.crash();
  runner.start();
  world.until("the end", [&] { return runner.count_with("end", "\"state\":\"lost\"") == 1; });
  world.until("no member job", [&] { return runner.slurm().alive_jobs() == 0; });
  runner.stop();
}

BOOST_AUTO_TEST_SUITE_END()
