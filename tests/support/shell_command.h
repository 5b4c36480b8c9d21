// A program of this build, run by the shell: exit code and everything it printed.
#pragma once

#include <sys/wait.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace jabas {

struct Outcome {
  int code = -1;     // -1: ended by a signal
  std::string text;  // both streams
};

inline Outcome run_command(const std::string& command) {
  FILE* pipe = popen(("{ " + command + "\n} 2>&1").c_str(), "r");
  BOOST_REQUIRE(pipe);
  Outcome outcome;
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    outcome.text.append(buffer, n);
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

// Quoted for the shell.
inline std::string built_program(const std::string& name) {
  const char* build = std::getenv("JABAS_BUILD_DIR");
  BOOST_REQUIRE_MESSAGE(build, "JABAS_BUILD_DIR is set by CTest");
  return std::string("'") + build + "/bin/" + name + "'";
}

inline Outcome run_jabas_sim(const std::string& arguments) {
  return run_command(built_program("jabas-sim") + " " + arguments);
}

}  // namespace jabas
