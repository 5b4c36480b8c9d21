#include <atomic>
#include <boost/test/unit_test.hpp>

#include "spank_plugin/jabasd/background_calls.h"
#include "spank_plugin/jabasd/subprocess.h"

using namespace jabas;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(subprocess_tests)

BOOST_AUTO_TEST_CASE(keeps_output_and_errors_apart) {
  const ProcessResult result =
      run_process({"sh", "-c", "cat; echo bad >&2; exit 3"}, {}, "input", 10s);
  BOOST_TEST(result.started);
  BOOST_TEST(result.out == "input");
  BOOST_TEST(result.err == "bad\n");
  BOOST_TEST(result.exit_code == 3);
  BOOST_TEST(!result.ok());
  BOOST_TEST(failure_text(result) == "exit code 3: bad");
}

BOOST_AUTO_TEST_CASE(the_environment_is_exactly_what_is_given) {
  const ProcessResult result = run_process({"env"}, {{"A", "1"}, {"B", "x y"}}, "", 10s);
  BOOST_TEST(result.out == "A=1\nB=x y\n");
}

BOOST_AUTO_TEST_CASE(the_deadline_kills_the_whole_group) {
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = run_process({"sh", "-c", "sleep 100 & echo $!; sleep 100"},
                                           {{"PATH", "/usr/bin:/bin"}}, "", 200ms);
  BOOST_TEST(result.timed_out);
  BOOST_TEST(!result.ok());
  BOOST_TEST((std::chrono::steady_clock::now() - start < 50s));  // it did not wait for the sleeps
  const long grandchild = std::stol(result.out);
  const ProcessResult state =
      run_process({"sh", "-c",
                   "kill -0 " + std::to_string(grandchild) + " && grep -q Z /proc/" +
                       std::to_string(grandchild) + "/stat"},
                  {{"PATH", "/usr/bin:/bin"}}, "", 10s);
  const bool gone = state.err.find("No such process") != std::string::npos ||
                    state.ok();  // gone, or a zombie of init's
  BOOST_TEST(gone);
  BOOST_TEST(failure_text(result) == "no answer within its deadline");
}

BOOST_AUTO_TEST_CASE(a_missing_program_is_a_value) {
  const ProcessResult result = run_process({"/no/such/program"}, {}, "", 10s);
  BOOST_TEST(!result.started);
  BOOST_TEST(result.start_error == "cannot run /no/such/program: No such file or directory");
}

BOOST_AUTO_TEST_CASE(much_output_does_not_block) {
  const ProcessResult result =
      run_process({"sh", "-c", "yes | head -c 300000"}, {{"PATH", "/usr/bin:/bin"}}, "", 20s);
  BOOST_TEST(result.ok());
  BOOST_TEST(result.out.size() == 300000u);
}

BOOST_AUTO_TEST_CASE(background_calls_come_back_on_the_owners_thread) {
  BackgroundCalls calls(2);
  const auto owner = std::this_thread::get_id();
  int done = 0, completed_elsewhere = 0;
  std::atomic<int> called_here = 0;  // Boost's checks are for one thread
  for (int i = 0; i < 20; ++i) {
    calls.post([&] {
      if (std::this_thread::get_id() == owner) ++called_here;
      return [&] {
        if (std::this_thread::get_id() != owner) ++completed_elsewhere;
        ++done;
      };
    });
  }
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (done < 20 && std::chrono::steady_clock::now() < deadline) calls.run_completions();
  BOOST_TEST(done == 20);
  BOOST_TEST(called_here == 0);
  BOOST_TEST(completed_elsewhere == 0);
}

BOOST_AUTO_TEST_CASE(an_exception_of_a_background_call_reaches_the_owner) {
  BackgroundCalls calls(1);
  calls.post([]() -> BackgroundCalls::Completion { throw std::runtime_error("broken"); });
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  bool thrown = false;
  while (!thrown && std::chrono::steady_clock::now() < deadline) {
    try {
      calls.run_completions();
    } catch (const std::runtime_error& error) {
      thrown = error.what() == std::string("broken");
    }
  }
  BOOST_TEST(thrown);
}

BOOST_AUTO_TEST_SUITE_END()
