#include <signal.h>
#include <sys/wait.h>

#include <boost/test/unit_test.hpp>

#include "elastic_runner/process.h"
#include "elastic_runner/socket_transport.h"

using namespace jabas;
using std::chrono::milliseconds;

BOOST_AUTO_TEST_SUITE(process_tests)

BOOST_AUTO_TEST_CASE(a_tools_output_and_exit_code_come_back) {
  const ToolResult result =
      run_tool({"sh", "-c", "echo out; echo err >&2; exit 3"}, milliseconds(20000));
  BOOST_TEST(result.finished);
  BOOST_TEST(result.exit_code == 3);
  BOOST_TEST(result.output == "out\n");
}

BOOST_AUTO_TEST_CASE(a_tool_that_hangs_is_killed_at_its_deadline) {
  const auto begin = std::chrono::steady_clock::now();
  const ToolResult result = run_tool({"sleep", "1000"}, milliseconds(50));
  BOOST_TEST(!result.finished);
  BOOST_TEST((std::chrono::steady_clock::now() - begin < std::chrono::seconds(100)));
}

BOOST_AUTO_TEST_CASE(a_missing_tool_is_not_finished) {
  BOOST_TEST(!run_tool({"no-such-program-of-any-kind"}, milliseconds(20000)).finished);
}

BOOST_AUTO_TEST_CASE(a_childs_environment_replaces_ours) {
  ::setenv("JABAS_TEST_VARIABLE", "ours", 1);
  const pid_t child = start_child(
      {{"sh", "-c", "test \"$JABAS_TEST_VARIABLE\" = theirs"}, {"JABAS_TEST_VARIABLE=theirs"}, -1});
  int status = 0;
  BOOST_TEST(::waitpid(child, &status, 0) == child);
  BOOST_TEST(describe_status(status) == "exit code 0");
}

BOOST_AUTO_TEST_CASE(only_the_wanted_descriptor_is_inherited) {
  const auto [a, b] = make_socket_pair();
  const std::string script = "test -e /proc/self/fd/" + std::to_string(b) +
                             " && test ! -e /proc/self/fd/" + std::to_string(a);
  const pid_t child = start_child({{"sh", "-c", script}, {}, b});
  int status = 0;
  BOOST_TEST(::waitpid(child, &status, 0) == child);
  BOOST_TEST(status == 0);
  ::close(a);
  ::close(b);
}

BOOST_AUTO_TEST_CASE(a_signal_is_named) {
  const pid_t child = start_child({{"sleep", "1000"}, {}, -1});
  ::kill(child, SIGKILL);
  int status = 0;
  BOOST_TEST(::waitpid(child, &status, 0) == child);
  BOOST_TEST(describe_status(status) == "killed by signal 9 (Killed)");
}

// A profile snapshot of many types is larger than a pipe's page.
BOOST_AUTO_TEST_CASE(a_socket_pair_carries_large_texts_whole) {
  const auto [a, b] = make_socket_pair();
  SocketTransport left(a), right(b);
  const std::string large(150'000, 'x');
  for (int i = 0; i < 20; ++i) left.send(large + std::to_string(i));
  for (int i = 0; i < 20; ++i) {
    std::optional<std::string> text;
    for (int tries = 0; tries < 1000 && !text; ++tries) {
      left.flush(milliseconds(1));
      text = right.receive();
    }
    BOOST_TEST_REQUIRE(text.has_value());
    BOOST_TEST((*text == large + std::to_string(i)));
  }
  BOOST_TEST(!right.closed());
}

BOOST_AUTO_TEST_SUITE_END()
