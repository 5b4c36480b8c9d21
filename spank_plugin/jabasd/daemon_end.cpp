// How a run ends: everybody leaves, what is left is cancelled by name, the end is recorded, the
// console is told.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "spank_plugin/jabasd/daemon.h"

namespace jabas {
namespace {

constexpr double kSqueueAtEnd_s = 0.5;  // a person waits for it

// What the console prints last.
std::string summary(const EndRecord& record) {
  std::array<char, 160> text;
  int length = std::snprintf(text.data(), text.size(), "finished: %d epochs in %.0f s",
                             record.epochs, record.duration_s);
  const auto add = [&](const char* format, double value) {
    const auto used = std::size_t(length);
    length += std::snprintf(text.data() + used, text.size() - used, format, value);
  };
  if (record.test_accuracy >= 0) add(", test accuracy %.4f", record.test_accuracy);
  if (record.cost_usd >= 0) add(", cost %.4f $", record.cost_usd);
  return text.data();
}

}  // namespace

void Daemon::end_run(const std::string& end_state, const std::string& reason, int exit_code) {
  if (!run_ || !run_->end_state.empty()) return;
  run_->end_state = end_state;
  run_->end_reason = reason;
  run_->exit_code = exit_code;
}

void Daemon::release_all() {
  end_since_s_ = unix_now_s();
  cancelled_at_end_ = false;
  membership_.poll_every(std::min(config_.timings.squeue_s, kSqueueAtEnd_s));
  for (const auto& [request, entry] : membership_.jobs().all()) {
    Member& member = *membership_.jobs().find(request);
    if (member.alive() && member.state != MemberState::kRunning)
      membership_.cancel(member, "the run is over");
    membership_.release(member, "the run is over", end_since_s_ + config_.timings.leave_s);
  }
  const bool failed = state_ == RunState::kFailed;
  for (const std::string& id : workers_.ids()) {
    if (failed) {
      server_.send(id, Stop{run_->exit_code, run_->end_reason});
    } else {
      server_.send(id, Release{"the run is over"});
    }
  }
}

void Daemon::cancel_all() {
  end_since_s_ = unix_now_s();
  cancelled_at_end_ = true;
  membership_.poll_every(std::min(config_.timings.squeue_s, kSqueueAtEnd_s));
  const std::string reason = run_ ? run_->end_reason : "";
  for (const std::string& id : workers_.ids()) server_.send(id, Stop{0, reason});
  membership_.cancel_all();
}

void Daemon::consider_end(double now_s) {
  const bool ending = state_ == RunState::kFinishing || state_ == RunState::kFailed ||
                      state_ == RunState::kDraining;
  if (!ending) return;
  const double since_s = now_s - end_since_s_;
  // Members end by themselves once their workers have left; cancelling is for those that do not.
  const bool all_left = workers_.empty() && membership_.nothing_left();
  if (!cancelled_at_end_ && (all_left || since_s >= config_.timings.leave_s)) {
    cancelled_at_end_ = true;
    membership_.cancel_all();
  }
  const double limit_s =
      state_ == RunState::kDraining ? config_.timings.drain_s : config_.timings.gone_s;
  const bool nothing_left = cancelled_at_end_ && membership_.nothing_left();
  if (!nothing_left && since_s < limit_s) return;
  if (!nothing_left) {
    std::string left;
    for (const auto& [request, member] : membership_.jobs().all()) {
      if (member.alive()) left += (left.empty() ? "" : ", ") + std::to_string(member.job_id);
    }
    journal_.warning("member jobs still in squeue after " + std::to_string(int(limit_s)) +
                     " s: " + left);
  }
  fire(RunEvent::kMembersGone);
}

void Daemon::record_end() {
  if (!run_) return;
  const double now_s = unix_now_s();
  Run& run = *run_;
  for (const auto& [type, gpus] : run.base) run.cost.end("base " + type, now_s);
  EndRecord record;
  record.state = run.end_state;
  record.reason = run.end_reason;
  record.epochs = run.epochs_done;
  if (run.cost.complete()) record.cost_usd = run.cost.total_usd(now_s);
  record.duration_s = now_s - run.started_s;
  record.test_accuracy = run.test_accuracy;
  record.emulated_steps = run.emulated_steps;
  record.emulation_overruns = run.emulation_overruns;
  journal_.end(record);
  spdlog::info("run {} {}: {}", run.number, record.state, record.reason);
  Status last;
  if (run.progress) last.progress = *run.progress;
  last.cost_usd = record.cost_usd;
  server_.send(run.console, last);
  server_.send(run.console,
               Stop{run.exit_code, record.state == "completed" ? summary(record) : run.end_reason});
  membership_.set_meter(nullptr);
  for (const std::string& id : workers_.ids()) server_.forget(id);
  workers_.clear();
  coordinator_ = GenerationCoordinator(last_generation_);
  trained_before_.clear();
  run_.reset();
}

}  // namespace jabas
