#include "elastic_runner/local_controller.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>

#include "allocator/error.h"
#include "allocator/generation_coordinator.h"
#include "allocator/report_text.h"
#include "elastic_runner/checkpoint_store.h"
#include "elastic_runner/console_display.h"
#include "elastic_runner/ledger_check.h"
#include "elastic_runner/local_workers.h"
#include "elastic_runner/process.h"
#include "elastic_runner/split_table.h"
#include "elastic_runner/stop_signals.h"

namespace jabas {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll{200};
constexpr std::chrono::seconds kReadyDeadline{120};  // from the start of a worker to `ready`
constexpr std::chrono::seconds kEndDeadline{60};     // from stop or finish to the last worker's end
constexpr int kMostFailures = 5;  // broken generations in a row without one that trained

// Numbers of a resumed run go on after those of its earlier life, so that its ledger can tell them
// apart.
int last_generation(const TrainingSpec& spec) {
  int last = last_ledger_generation(spec.ledger_dir);
  if (!spec.resume_dir.empty()) {
    last = std::max(
        last, find_newest_checkpoint(spec.resume_dir, training_identity(spec)).state.generation);
  }
  return last;
}

class LocalController {
 public:
  LocalController(const TrainingSpec& spec, const LocalProfile& profile,
                  const std::string& executable)
      : spec_(spec),
        profile_(profile),
        workers_(executable),
        coordinator_(last_generation(spec)),
        display_(stdout, ::isatty(STDOUT_FILENO) != 0, spec.epochs) {}

  int run() {
    display_.print("training " + spec_.model + " on " + spec_.dataset + ", " +
                   std::to_string(spec_.train_samples) + " samples, " +
                   std::to_string(spec_.epochs) + " epochs, on this machine" +
                   (spec_.device == "emulated" ? " (emulated devices)" : ""));
    grow_to(workers_in_epoch(spec_.workers_per_epoch, 1));
    while (!workers_.all().empty()) {
      for (auto& event : workers_.wait(signals_.fd(), kPoll)) handle(event);
      if (const int signal = signals_.take()) interrupt(signal);
      begin_if_ready();
      check_deadlines();
    }
    return exit_code();
  }

 private:
  void handle(WorkerEvent& event) {
    if (event.kind == WorkerEvent::Kind::kEnded) return ended(event.worker_id, event.wait_status);
    if (std::holds_alternative<Hello>(event.message)) {
      workers_.send(event.worker_id, Welcome{"local", 40, spec_, ""});
    } else if (std::holds_alternative<Ready>(event.message)) {
      const auto worker = workers_.all().find(event.worker_id);
      if (worker != workers_.all().end()) worker->second.ready = true;
    } else if (const auto* progress = std::get_if<Progress>(&event.message)) {
      show(*progress);
      passed(progress->epoch);
    } else if (const auto* report = std::get_if<EpochReport>(&event.message)) {
      epoch_ended(*report);
    } else if (std::holds_alternative<Leaving>(event.message)) {
      leaving_.insert(event.worker_id);
    } else if (const auto* finished = std::get_if<Finished>(&event.message)) {
      finished_ = *finished;
      end_deadline_ = Clock::now() + kEndDeadline;
      for (const auto& [id, worker] : workers_.all()) {
        if (!trains(id)) workers_.send(id, Release{"the training is finished"});
      }
    }
    act(coordinator_.on_message(event.worker_id, event.message));
  }

  bool trains(const std::string& id) const {
    return std::any_of(coordinator_.training().begin(), coordinator_.training().end(),
                       [&](const PlanMember& member) { return member.worker_id == id; });
  }

  void act(const CoordinatorOutput& output) {
    for (const auto& outgoing : output.send) workers_.send(outgoing.to, outgoing.message);
    for (const auto& event : output.events) react(event);
  }

  void react(const GenerationEvent& event) {
    switch (event.fact) {
      case GenerationFact::kReadyToCommit:
        act(coordinator_.commit());
        break;
      case GenerationFact::kSwitched:
        if (event.pause_s > 0) {
          char pause[32];
          std::snprintf(pause, sizeof pause, "%.3f", event.pause_s);
          display_.print("epoch " + std::to_string(event.epoch) + ": " +
                         std::to_string(coordinator_.training().size()) + " workers, pause " +
                         pause + " s");
        }
        for (const auto& id : event.leavers) {
          if (workers_.all().contains(id)) leaving_.insert(id);
        }
        next_epoch_ = event.epoch + 1;
        failures_ = 0;
        plan_next_epoch();
        break;
      case GenerationFact::kSwitchFailed:
        display_.print("resize failed, training goes on as it was: " + event.text);
        ++next_epoch_;
        failed();
        break;
      case GenerationFact::kBuildFailed:
        display_.print("generation " + std::to_string(event.generation) +
                       " could not be built: " + event.text);
        failed();
        break;
      case GenerationFact::kMemberLost:
        if (!ending())
          display_.print("generation " + std::to_string(event.generation) +
                         " broke: " + event.text);
        failed();
        break;
      case GenerationFact::kUnexpected:
        std::fprintf(stderr, "jabas-run: %s: %s\n", event.worker_id.c_str(), event.text.c_str());
        break;
      case GenerationFact::kRevoked:
      case GenerationFact::kTooLate:
        break;  // this controller never takes anything back
    }
  }

  // Something must be prepared again: a first generation if nothing trains, else the next resize.
  void failed() {
    if (ending()) return;
    if (++failures_ > kMostFailures) {
      fail(ExitCode::kFailed,
           "the workers could not be brought together " + std::to_string(kMostFailures) + " times");
    } else if (coordinator_.generation() == 0) {
      waiting_first_ = true;
    } else {
      plan_next_epoch();
    }
  }

  void plan_next_epoch() {
    if (ending() || next_epoch_ > spec_.epochs || coordinator_.generation() == 0 ||
        coordinator_.preparing())
      return;
    const int wanted = workers_in_epoch(spec_.workers_per_epoch, next_epoch_);
    if (wanted == int(coordinator_.training().size())) return;
    grow_to(wanted);
    waiting_resize_ = true;
  }

  void grow_to(int wanted) {
    const int present = int(workers_.all().size()) - int(leaving_.size());
    for (int i = present; i < wanted; ++i) {
      workers_.start();
      ready_deadline_ = Clock::now() + kReadyDeadline;
    }
  }

  // The workers of a generation of `count`: those that train first, in their order, then standby
  // ones.
  std::vector<PlanMember> members(int count) {
    std::vector<PlanMember> result = coordinator_.training();
    for (const auto& [id, worker] : workers_.all()) {
      if (worker.ready && !trains(id) && !leaving_.contains(id))
        result.push_back({id, profile_.gpu_type, "localhost"});
    }
    if (std::ssize(result) > count) result.resize(std::size_t(count));
    return result;
  }

  bool all_ready() const {
    return std::all_of(workers_.all().begin(), workers_.all().end(),
                       [](const auto& entry) { return entry.second.ready; });
  }

  void begin_if_ready() {
    if (ending() || coordinator_.preparing() || !(waiting_first_ || waiting_resize_) ||
        !all_ready())
      return;
    const bool first = std::exchange(waiting_first_, false);
    waiting_resize_ = false;
    const int epoch = first ? next_epoch_ - 1 : next_epoch_;
    auto next = members(workers_in_epoch(spec_.workers_per_epoch, epoch));
    if (!next.empty()) act(coordinator_.begin(std::move(next), profile_.json, first));
  }

  void epoch_ended(const EpochReport& report) {
    display_.print(to_text(report, spec_.epochs));
    // Without a resize the boundary is passed at once; with one, `switched` says so.
    const int workers = int(coordinator_.training().size());
    if (workers_in_epoch(spec_.workers_per_epoch, report.epoch + 1) == workers)
      passed(report.epoch + 1);
  }

  // Training is in `epoch`: what is planned is for the boundary after it.
  void passed(int epoch) {
    if (epoch < next_epoch_) return;
    next_epoch_ = epoch + 1;
    plan_next_epoch();
  }

  void ended(const std::string& id, int status) {
    const bool left = leaving_.erase(id) > 0;
    const bool proper = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!(left && proper) && !ending()) {
      const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
      if (code != 0) {
        fail(ExitCode(code), "worker " + id + " ended with " + describe_status(status));
      } else {
        display_.print("worker " + id + " was lost (" + describe_status(status) +
                       "); the run goes on with " + std::to_string(workers_.all().size()) +
                       " workers");
      }
    }
    act(coordinator_.on_lost(id));
    if (workers_.all().empty() && !finished_ && !interrupted_ && failure_ == ExitCode::kOk) {
      fail(ExitCode::kFailed, "all workers are lost");
    }
  }

  void show(const Progress& progress) {
    Status status;
    status.progress = progress;
    status.gpus["worker"] = int(coordinator_.training().size());
    const auto left = double(spec_.train_samples) * (spec_.epochs - progress.epoch + 1) -
                      double(progress.samples_consumed);
    if (progress.samples_per_s > 0) status.eta_s = left / progress.samples_per_s;
    display_.show(status, Clock::now());
  }

  void interrupt(int signal) {
    if (interrupted_) {
      workers_.kill_all();
      return;
    }
    interrupted_ = signal;
    end_deadline_ = Clock::now() + kEndDeadline;
    display_.print(spec_.checkpoint_dir.empty()
                       ? "stopping at the next step; no checkpoint without --state"
                       : "stopping at the next step, after a checkpoint");
    workers_.send_all(Stop{128 + signal, "interrupted"});
  }

  void fail(ExitCode code, const std::string& text) {
    if (failure_ != ExitCode::kOk) return;
    failure_ = code;
    end_deadline_ = Clock::now() + kEndDeadline;
    display_.print("jabas-run: " + text + "; the run ends");
    workers_.kill_all();
  }

  bool ending() const { return finished_ || interrupted_ || failure_ != ExitCode::kOk; }

  void check_deadlines() {
    if (ending()) {
      if (Clock::now() > end_deadline_) workers_.kill_all();
    } else if (!all_ready() && Clock::now() > ready_deadline_) {
      fail(ExitCode::kFailed,
           "a worker was not ready after " + std::to_string(kReadyDeadline.count()) + " s");
    }
  }

  int exit_code() {
    if (failure_ != ExitCode::kOk) return int(failure_);
    if (finished_) {
      char line[96];
      std::snprintf(line, sizeof line, "finished: %lld steps, test accuracy %.4f",
                    static_cast<long long>(finished_->steps), finished_->test_accuracy);
      display_.print(line);
      return int(ExitCode::kOk);
    }
    return 128 + interrupted_;
  }

  const TrainingSpec& spec_;
  const LocalProfile& profile_;
  StopSignals signals_;
  LocalWorkers workers_;
  GenerationCoordinator coordinator_;
  ConsoleDisplay display_;
  std::set<std::string> leaving_;  // have said so and still run
  bool waiting_first_ = true, waiting_resize_ = false;
  int next_epoch_ = 2;  // begins at the next boundary that training has not passed
  int failures_ = 0, interrupted_ = 0;
  std::optional<Finished> finished_;
  ExitCode failure_ = ExitCode::kOk;
  Clock::time_point ready_deadline_{}, end_deadline_{};
};

}  // namespace

int run_local(const TrainingSpec& spec, const LocalProfile& profile,
              const std::string& executable) {
  return LocalController(spec, profile, executable).run();
}

}  // namespace jabas
