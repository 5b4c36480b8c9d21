// Who trains next: prepares generations, journals what became of them, and reacts.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "allocator/report_text.h"
#include "spank_plugin/jabasd/daemon.h"

namespace jabas {
namespace {

GpuCounts counts_of(const std::vector<PlanMember>& members) {
  GpuCounts counts;
  for (const PlanMember& member : members) ++counts[member.gpu_type];
  return counts;
}

bool covers(const GpuCounts& held, const GpuCounts& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
    const auto found = held.find(entry.first);
    return entry.second == 0 || (found != held.end() && found->second >= entry.second);
  });
}

}  // namespace

void Daemon::apply(const CoordinatorOutput& output) {
  int journalled = 0;
  for (const Outgoing& outgoing : output.send) {
    if (const Prepare* prepare = std::get_if<Prepare>(&outgoing.message);
        prepare != nullptr && prepare->generation * 1000 + prepare->attempt != journalled) {
      journalled = prepare->generation * 1000 + prepare->attempt;
      last_generation_ = std::max(last_generation_, prepare->generation);
      journal_.prepare(*prepare);
    }
    server_.send(outgoing.to, outgoing.message);
  }
  for (const GenerationEvent& event : output.events) on_fact(event);
}

void Daemon::on_fact(const GenerationEvent& event) {
  switch (event.fact) {
    case GenerationFact::kReadyToCommit:
      if (journal_.commit(event.generation, event.attempt)) apply(coordinator_.commit());
      return;
    case GenerationFact::kSwitched:
      on_switched(event);
      return;
    case GenerationFact::kSwitchFailed:
    case GenerationFact::kBuildFailed:
    case GenerationFact::kRevoked:
      journal_.switch_failed(event);
      prepare_not_before_s_ = unix_now_s() + config_.timings.retry_s;
      fire(RunEvent::kDropped);
      return;
    case GenerationFact::kMemberLost: {
      if (!active(state_)) return;
      journal_.warning("generation " + std::to_string(event.generation) + ": " +
                       (event.worker_id.empty() ? "" : event.worker_id + " ") + event.text);
      // A fault names no culprit: whoever is dead shows itself by its silence. A known loss can be
      // repaired at once.
      prepare_not_before_s_ =
          unix_now_s() + (event.worker_id.empty() ? config_.timings.worker_silence_s + 1 : 0);
      const bool others = !coordinator_.training().empty();
      if (!others && !run_->spec.checkpoint_dir.empty())
        run_->spec.resume_dir = run_->spec.checkpoint_dir;
      fire(others ? RunEvent::kWorkerLost : RunEvent::kAllLost);
      return;
    }
    case GenerationFact::kTooLate:
      spdlog::info("generation {}: revoked too late", event.generation);
      return;
    case GenerationFact::kUnexpected:
      spdlog::warn("generation {}: {} {}", event.generation, event.worker_id, event.text);
      return;
  }
}

void Daemon::on_switched(const GenerationEvent& event) {
  Run& run = *run_;
  journal_.switched(event, counts_of(trained_before_), counts_of(coordinator_.training()));
  if (run.trained_once) {
    tell_console(resize_text(event.epoch, counts_of(trained_before_),
                             counts_of(coordinator_.training()), event.pause_s));
  }
  trained_before_ = coordinator_.training();
  if (run.trained_once && event.pause_s > 0) run.pause_s = event.pause_s;
  const bool begins =
      !run.trained_once || state_ == RunState::kRecovering || state_ == RunState::kWaiting;
  if (begins && event.epoch != run.epoch) {  // resumed from a checkpoint: the workers know where
    run.epoch = event.epoch;
    run.epochs_done = event.epoch - 1;
    run.decided_for = std::max(run.decided_for, event.epoch);
    run.progress.reset();
  }
  if (!run.trained_once) run.epoch_started_s = unix_now_s();
  run.trained_once = true;
  for (const std::string& id : event.leavers) {
    if (Member* member = membership_.jobs().find_job(job_of_worker(id))) {
      membership_.release(*member,
                          "released at the boundary before epoch " + std::to_string(event.epoch),
                          unix_now_s() + config_.timings.leave_s);
    }
  }
  fire(RunEvent::kSwitched);
}

std::vector<PlanMember> Daemon::ready_base() const {
  std::vector<PlanMember> result;
  for (const Worker* worker : workers_.of_job(std::to_string(config_.lead_job_id))) {
    if (worker->ready) result.push_back({worker->id, type_of(*worker), worker->host});
  }
  return result;
}

std::string Daemon::type_of(const Worker& worker) const {
  return run_->base.empty() ? worker.gpu_type : run_->base.begin()->first;
}

GenerationPlan Daemon::next_generation() const {
  return plan_generation(run_->wanted, ready_base(), coordinator_.training(), plan_units());
}

std::string Daemon::profile_json() const {
  std::vector<std::string> types;
  for (const auto& [type, gpus] : run_->wanted) types.push_back(type);
  const Profile profile = profile_.for_types(types, run_->spec.local_batch, nullptr);
  for (const std::string& type : types) {
    if (!profile.types.count(type)) return "";  // an even split is all that is left
  }
  return to_json_text(profile);
}

void Daemon::prepare(bool first) {
  const GenerationPlan plan = next_generation();
  // Survivors of a fault are known only later: consider_generation() comes back to it.
  if (plan.members.empty() || unix_now_s() < prepare_not_before_s_) return;
  if (plan.keeps_one_back) {
    journal_.warning(
        plan.members.front().worker_id +
        " stays for one more epoch: somebody of the old generation must bring the state");
  }
  journal_corrections();
  apply(coordinator_.begin(plan.members, profile_json(), first));
}

void Daemon::notice_ready_members() {
  for (const PlanUnit& unit : plan_units()) {
    if (unit.ready) membership_.ready(*membership_.jobs().find(unit.request));
  }
}

bool Daemon::start_set_ready(double now_s) {
  Run& run = *run_;
  const GenerationPlan plan = next_generation();
  if (plan.members.empty() || now_s < prepare_not_before_s_) return false;
  if (run.trained_once) return true;  // after a loss: whoever is there goes on
  if (run.decided_for == 0) return false;
  const GpuCounts ready = counts_of(plan.members);
  bool any_minimum = false;
  GpuCounts minimum;
  for (const GpuLimit& limit : run.limits) {
    minimum[limit.type] = limit.min;
    any_minimum = any_minimum || limit.min > 0;
  }
  if (!covers(ready, minimum)) {
    run.min_met_s = 0;
    return false;
  }
  if (run.min_met_s == 0) run.min_met_s = now_s;
  if (covers(ready, run.wanted)) return true;
  if (any_minimum) return now_s - run.min_met_s >= config_.timings.start_grace_s;
  return now_s - run.started_s >=
         double(config_.options.wait_s) + config_.timings.start_allowance_s;
}

void Daemon::consider_generation(double now_s) {
  if (now_s < prepare_not_before_s_) return;
  if (state_ == RunState::kWaiting) {
    if (start_set_ready(now_s)) fire(RunEvent::kSetReady);
  } else if (state_ == RunState::kRecovering && !coordinator_.preparing()) {
    prepare(/*first=*/true);
    if (!coordinator_.preparing()) fire(RunEvent::kAllLost);
  } else if (trains(state_) && run_->epoch < run_->spec.epochs) {
    consider_resize(now_s);
  }
}

void Daemon::consider_resize(double now_s) {
  const GenerationPlan plan = next_generation();
  const double left_s = remaining_s(now_s);
  const bool last_moment = left_s >= 0 && left_s <= kPrepareLead_s;
  if (state_ == RunState::kRunning) {
    if (plan.differs && !plan.members.empty() && (plan.complete || last_moment))
      fire(RunEvent::kSetReady);
    return;
  }
  // Something else is wanted by now, or more of it is ready: worth another attempt while there is
  // time for one.
  if (last_moment || !plan.complete ||
      same_generation(plan.members, coordinator_.prepared_members()))
    return;
  if (coordinator_.committed() || !plan.differs) {
    apply(coordinator_.revoke());
  } else {
    apply(coordinator_.begin(plan.members, profile_json(), /*first=*/false));
  }
}

}  // namespace jabas
