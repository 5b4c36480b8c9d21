#include "elastic_runner/join.h"

#include <poll.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdio>

#include "allocator/error.h"
#include "elastic_runner/process.h"
#include "elastic_runner/run_directory.h"
#include "elastic_runner/slurm_tools.h"
#include "elastic_runner/stop_signals.h"
#include "elastic_runner/worker_group.h"

namespace jabas {
namespace {

using Clock = std::chrono::steady_clock;
// From the first worker's death to the end of the others: they hear it from the daemon or a broken
// communicator first.
constexpr std::chrono::seconds kLastWorkerDeadline{5};

int code_of(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

}  // namespace

int run_join(int workers, const std::string& executable) {
  if (workers < 1 || workers > 64) {
    throw UsageError("join: --workers=" + std::to_string(workers) +
                     ": accepted is a whole number in 1..64");
  }
  StopSignals signals;
  const std::string run = environment("JABAS_MEMBER");
  if (run.empty())
    throw UsageError("join: JABAS_MEMBER is not set: member jobs are submitted by jabasd only");
  if (ask_for_lead(run) == LeadState::kGone) {
    std::printf("jabas-run: the lead job of run %s is gone; leaving\n", run.c_str());
    return 0;
  }
  WorkerGroup group(executable, workers);
  int exit_code = 0;
  Clock::time_point deadline = Clock::time_point::max();
  while (!group.empty()) {
    pollfd fd{signals.fd(), POLLIN, 0};
    ::poll(&fd, 1, 200);
    if (const int signal = signals.take()) group.signal(signal == SIGINT ? SIGTERM : signal);
    for (const auto& ended : group.reap()) {
      if (ended.proper()) continue;
      std::fprintf(stderr, "jabas-run: worker %d ended with %s%s\n", ended.local_rank,
                   describe_status(ended.wait_status).c_str(),
                   group.empty() ? "" : "; the others of this member are ended too");
      if (exit_code == 0) exit_code = code_of(ended.wait_status);
      if (deadline == Clock::time_point::max()) {
        group.signal(SIGTERM);
        deadline = Clock::now() + kLastWorkerDeadline;
      }
    }
    if (Clock::now() > deadline) group.signal(SIGKILL);
  }
  return exit_code;
}

}  // namespace jabas
