#include "elastic_runner/console.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

#include "allocator/error.h"
#include "elastic_runner/checkpoint_store.h"
#include "elastic_runner/console_display.h"
#include "elastic_runner/control_client.h"
#include "elastic_runner/process.h"
#include "elastic_runner/run_claim.h"
#include "elastic_runner/run_directory.h"
#include "elastic_runner/stop_signals.h"
#include "elastic_runner/worker_group.h"
#include "elastic_runner/zmq_transport.h"

extern char** environ;

namespace jabas {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kEndpointDeadline{30};
constexpr std::chrono::seconds kWorkersDeadline{30};  // from stop to the last base worker's end

// Messages from the control thread to the console's.
class Inbox {
 public:
  void push(const Message& message) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(message);
  }
  std::optional<Message> pop() {
    const std::lock_guard lock(mutex_);
    if (messages_.empty()) return std::nullopt;
    Message message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }

 private:
  std::mutex mutex_;
  std::deque<Message> messages_;
};

class Console {
 public:
  Console(const TrainCommand& command, const std::string& run_dir, const std::string& executable)
      : spec_(command.spec),
        executable_(executable),
        client_(transport(run_dir), hello(command)),
        display_(stdout, ::isatty(STDOUT_FILENO) != 0, command.spec.epochs) {
    client_.start([this](const Message& message) { inbox_.push(message); });
  }

  int run() {
    while (!exit_code_) {
      pollfd fd{signals_.fd(), POLLIN, 0};
      ::poll(&fd, 1, 100);
      while (auto message = inbox_.pop()) handle(*message);
      if (const int signal = signals_.take()) {
        display_.print("jabas-run: stopped by signal " + std::to_string(signal));
        exit_code_ = 128 + signal;
      }
      if (workers_) watch_workers();
      if (client_.lease_lost() && !exit_code_) {
        std::fprintf(stderr,
                     "jabas-run: the job's daemon has been silent for longer than its lease; the "
                     "training ends\n");
        exit_code_ = int(ExitCode::kDaemonLost);
      }
    }
    client_.send(ConsoleBye{*exit_code_});
    end_workers();
    return *exit_code_;
  }

 private:
  // One of its own for each process, so that a second `train` is seen as such and refused.
  static std::string console_id() { return "console." + std::to_string(::getpid()); }

  static std::unique_ptr<ControlTransport> transport(const std::string& run_dir) {
    ZmqTransportOptions options;
    options.run_dir = run_dir;
    options.fallback_endpoint = wait_for_endpoint(run_dir, kEndpointDeadline);
    options.routing_id = console_id();
    return make_zmq_transport(options);
  }

  Hello hello(const TrainCommand& command) const {
    Hello hello;
    hello.role = "console";
    hello.worker_id = console_id();
    hello.job_id = environment("SLURM_JOB_ID");
    hello.host = host_name();
    hello.boot_id = boot_id();
    hello.version = JABAS_VERSION;
    hello.arguments = command.arguments;
    hello.working_directory = std::filesystem::current_path().string();
    hello.executable = executable_;
    hello.environment = member_environment(environ);
    hello.base_workers = base_gpus();
    hello.base_gpu_type = environment("JABAS_GPU_TYPE");
    hello.spec = command.spec;
    return hello;
  }

  void handle(const Message& message) {
    if (const auto* welcome = std::get_if<Welcome>(&message)) {
      if (lacks_similarity_target(welcome->spec)) {
        std::fprintf(
            stderr,
            "jabas-run: --similarity-target: required when the batch is adaptive; accepted is a "
            "number between 0 and 1 (or --adaptive=off)\n");
        exit_code_ = int(ExitCode::kUsage);
      } else if (!workers_) {
        workers_ = std::make_unique<WorkerGroup>(executable_, base_gpus());
      }
    } else if (const auto* status = std::get_if<Status>(&message)) {
      display_.show(*status, Clock::now());
    } else if (const auto* stop = std::get_if<Stop>(&message)) {
      if (stop->exit_code == 0) {
        display_.print(stop->reason.empty() ? "finished" : stop->reason);
      } else {
        std::fprintf(stderr, "jabas-run: %s\n", stop->reason.c_str());
      }
      exit_code_ = stop->exit_code;
    }
  }

  // A lost base worker is the daemon's to handle; here it is only said.
  void watch_workers() {
    for (const auto& ended : workers_->reap()) {
      if (ended.proper()) continue;
      display_.print("jabas-run: the lead's worker " + std::to_string(ended.local_rank) +
                     " ended with " + describe_status(ended.wait_status));
    }
  }

  void end_workers() {
    if (!workers_) return;
    // After a proper end the daemon has told them already; otherwise they leave at their next step.
    if (*exit_code_ != 0) workers_->signal(SIGTERM);
    const auto deadline = Clock::now() + kWorkersDeadline;
    while (!workers_->empty() && Clock::now() < deadline) {
      workers_->reap();
      pollfd fd{signals_.fd(), POLLIN, 0};
      ::poll(&fd, 1, 100);
      if (signals_.take() != 0) break;
    }
  }

  const TrainingSpec spec_;
  const std::string executable_;
  StopSignals signals_;  // before the control thread starts
  Inbox inbox_;
  ControlClient client_;
  ConsoleDisplay display_;
  std::unique_ptr<WorkerGroup> workers_;
  std::optional<int> exit_code_;
};

}  // namespace

int run_console(TrainCommand command, const std::string& executable) {
  const std::string run_dir = environment("JABAS_RUN_DIR");
  if (run_dir.empty()) {
    throw UsageError(
        "train: not in a job submitted with --jabas-gpus (JABAS_RUN_DIR is not set); use --local N "
        "on this machine");
  }
  if (std::atoi(environment("SLURM_STEP_NUM_TASKS").c_str()) > 1) {
    throw UsageError(
        "train: runs as " + environment("SLURM_STEP_NUM_TASKS") +
        " tasks of one srun; start it once in the batch script, it starts its workers itself");
  }
  TrainingSpec& spec = command.spec;
  spec.checkpoint_dir =
      claim_checkpoint_folder(run_dir, std::atoi(environment("SLURM_RESTART_COUNT").c_str()));
  if (command.resume && spec.resume_dir.empty()) spec.resume_dir = spec.checkpoint_dir;
  if (has_checkpoints(spec.checkpoint_dir))
    find_newest_checkpoint(spec.checkpoint_dir, training_identity(spec));
  if (!spec.resume_dir.empty()) find_newest_checkpoint(spec.resume_dir, training_identity(spec));
  return Console(command, run_dir, executable).run();
}

}  // namespace jabas
