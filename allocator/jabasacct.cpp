// jabasacct: what was decided in a run, when, why and what it cost, from its journal.
#include <pwd.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "allocator/acct_command.h"

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string home() {
  const std::string set = variable("HOME");
  if (!set.empty()) return set;
  const passwd* entry = ::getpwuid(::getuid());
  return entry == nullptr ? "" : entry->pw_dir;
}

}  // namespace

int main(int argc, char** argv) {
  const double now_s =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const jabas::acct::Environment environment{variable("JABAS_STATE"), variable("JABAS_FORMAT"),
                                             variable("SLURM_TIME_FORMAT"), home()};
  return jabas::acct::run_jabasacct(std::vector<std::string>(argv + 1, argv + argc), environment,
                                    now_s, std::cout, std::cerr);
}
