// jabas-fuzz COUNT [SEED [FIRST]]: feeds COUNT broken profiles, states and tables to what reads
// them. Each must be accepted, and then be usable, or be refused with an error of ours. Anything
// else ends the program: another exception, a failed assertion, a finding of a sanitizer. The seed
// and the input's number are printed then; FIRST starts with that input, and COUNT 1 shows it.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "allocator/error.h"
#include "tests/fuzz/inputs.h"

namespace {

volatile std::sig_atomic_t current = 0;
unsigned long seed = 0;

void say_which(int signal) {
  char text[160];
  const int size =
      std::snprintf(text, sizeof text, "jabas-fuzz: input %ld of seed %lu: signal %d\n",
                    long(current), seed, signal);
  if (write(STDERR_FILENO, text, std::size_t(size)) < 0) _exit(3);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned long count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0;
  if (count == 0) {
    std::fprintf(stderr, "usage: jabas-fuzz COUNT [SEED [FIRST]]\n");
    return 2;
  }
  seed = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : std::random_device{}();
  const unsigned long first = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 0;
  std::printf("seed %lu\n", seed);
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS, SIGILL})
    std::signal(signal, say_which);

  const std::vector<jabas::fuzz::Target> targets = jabas::fuzz::targets();
  std::vector<unsigned long> accepted(targets.size()), refused(targets.size());
  for (unsigned long i = first; i < first + count; ++i) {
    current = std::sig_atomic_t(i);
    jabas::fuzz::Random random(seed * 1'000'003 + i);
    const std::size_t chosen = i % targets.size();
    try {
      const std::string input = targets[chosen].make(random);
      if (count == 1) std::printf("%s\n", input.c_str()), std::fflush(stdout);
      targets[chosen].use(input);
      ++accepted[chosen];
    } catch (const jabas::Error& error) {
      // The user sees one line.
      if (std::strlen(error.what()) == 0 || std::strchr(error.what(), '\n')) {
        std::fprintf(stderr, "jabas-fuzz: input %lu of seed %lu: not one line: %s\n", i, seed,
                     error.what());
        return 1;
      }
      ++refused[chosen];
    } catch (const std::exception& error) {
      std::fprintf(stderr, "jabas-fuzz: input %lu of seed %lu (%s): not an error of ours: %s\n", i,
                   seed, targets[chosen].name.c_str(), error.what());
      return 1;
    }
    if ((i - first + 1) % 10'000 == 0)
      std::printf("%lu inputs\n", i - first + 1), std::fflush(stdout);
  }
  for (std::size_t t = 0; t < targets.size(); ++t)
    std::printf("%-24s %8lu accepted %8lu refused\n", targets[t].name.c_str(), accepted[t],
                refused[t]);
  return 0;
}
