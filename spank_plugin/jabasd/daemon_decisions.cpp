// What the run should hold: asks Slurm and the prices, decides, and keeps the requests in line with
// the decision.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>

#include "allocator/error.h"
#include "spank_plugin/jabasd/daemon.h"
#include "spank_plugin/jabasd/decision_state.h"
#include "spank_plugin/jabasd/gpu_supply.h"

namespace jabas {

double Daemon::remaining_s(double now_s) const {
  if (run_->progress)
    return remaining_epoch_s(*run_->progress, now_s - run_->progress_at_s, run_->evaluation_s);
  if (run_->last_epoch_s > 0)
    return std::max(0.0, run_->last_epoch_s - (now_s - run_->epoch_started_s));
  return -1;
}

void Daemon::consider_decision(double now_s) {
  const bool epoch_left = run_->epoch <= run_->spec.epochs;
  if (state_ == RunState::kWaiting && epoch_left && run_->decided_for < run_->epoch)
    return fetch_and_decide(run_->epoch);
  const bool open = trains(state_) && run_->decided_for <= run_->epoch;
  const double startup_s = membership_.startup_s(kAssumedStartup_s);
  if (open && time_to_decide(run_->epoch, run_->spec.epochs, remaining_s(now_s), startup_s)) {
    fetch_and_decide(run_->epoch + 1);
  }
}

void Daemon::fetch_and_decide(int next_epoch) {
  if (fetching_ || unix_now_s() < fetch_again_s_) return;
  fetching_ = true;
  calls_.post([this, slurm = slurm_, prices = prices_, lead = config_.lead_job_id,
               types = usable_types(*run_), next_epoch, run = run_->number] {
    DecisionInputs inputs = fetch_inputs(*slurm, *prices, lead, types);
    return [this, next_epoch, run, inputs = std::move(inputs)] {
      fetching_ = false;
      if (run_ && run_->number == run &&
          (state_ == RunState::kWaiting || state_ == RunState::kRecovering || trains(state_))) {
        on_inputs(inputs, next_epoch);
      }
    };
  });
}

void Daemon::on_inputs(const DecisionInputs& inputs, int next_epoch) {
  const bool start = run_->decided_for == 0;
  if (const std::string problem = inputs.problem(); !problem.empty()) {
    fetch_again_s_ = unix_now_s() + config_.timings.retry_s;
    if (start && !inputs.price_problem.empty()) {
      end_run("failed", inputs.price_problem + "; the run ends", int(ExitCode::kInput));
      return fire(RunEvent::kFatal);
    }
    const std::string text =
        "decision for epoch " + std::to_string(next_epoch) + " postponed: " + problem;
    if (text != last_postponement_) journal_.warning(text);
    last_postponement_ = text;
    return;
  }
  nodes_ = *inputs.nodes.value;
  lead_info_ = inputs.lead.value;
  if (!accept_prices(inputs, start)) return;
  decide_now(inputs, next_epoch);
}

bool Daemon::accept_prices(const DecisionInputs& inputs, bool start) {
  if (const std::string& warning = inputs.prices.warning; warning != last_price_warning_) {
    if (!warning.empty()) journal_.warning(warning);
    last_price_warning_ = warning;
  }
  const std::string missing = missing_price(usable_types(*run_), inputs.prices.prices);
  if (start && !missing.empty()) {
    end_run("failed",
            "prices (" + inputs.prices.prices.source + "): no price for GPU type " + missing +
                "; give it with --jabas-prices=FILE or URL; the run ends",
            int(ExitCode::kInput));
    fire(RunEvent::kFatal);
    return false;
  }
  const auto earlier = price_list_.usd_per_gpu_h;
  price_list_ = inputs.prices.prices;
  // A type that has vanished from the list keeps the price it had.
  price_list_.usd_per_gpu_h.insert(earlier.begin(), earlier.end());
  run_->cost.set_prices(price_list_.usd_per_gpu_h, unix_now_s());
  return true;
}

void Daemon::decide_now(const DecisionInputs& inputs, int next_epoch) {
  Run& run = *run_;
  journal_corrections();
  note_gpus_per_node();
  DecisionRecord record;
  DecisionInputs priced = inputs;
  priced.prices.prices = price_list_;
  const Profile profile =
      profile_.for_types(usable_types(run), run.spec.local_batch, &record.notes);
  DecisionContext context;
  context.start = run.decided_for == 0;
  context.next_epoch = next_epoch;
  context.now_s = unix_now_s();
  context.boundary_s = context.now_s;
  if (trains(state_) && next_epoch > run.epoch)
    context.boundary_s += std::max(0.0, remaining_s(context.now_s));
  context.startup_s = membership_.startup_s(kAssumedStartup_s);
  context.unit = config_.options.unit;
  context.objective = config_.options.objective;
  DecisionState state = decision_state(run, membership_.jobs(), priced, profile, context);
  // What is only there to be measured is not held: it can be had, like what is free.
  for (const auto& [type, gpus] : probes()) {
    const int held = std::min(gpus, count_of(state.held, type));
    state.held[type] -= held;
    state.supply[type].free += held;
  }

  record.epoch = next_epoch;
  record.decision = decide(state);
  record.objective = config_.options.objective;
  record.free = free_supply(run, nodes_, membership_.jobs(), config_.options.unit, context.now_s);
  choose_probes(next_epoch, record.decision.after, record.free, &record.notes);
  record.prices = price_list_;
  record.wanted_batch = run.wanted_batch;
  record.emulated = run.spec.device == "emulated";
  if (!journal_.decision(record)) {
    // Without its record nothing is done; tried again, since the boundary is still undecided.
    fetch_again_s_ = unix_now_s() + config_.timings.retry_s;
    return;
  }
  run.decided_for = std::max(run.decided_for, next_epoch);
  last_postponement_.clear();
  const Decision& decision = record.decision;
  spdlog::info("epoch {}: {} {} -> {}: {}", next_epoch, to_text(decision.action),
               to_text(decision.before), to_text(decision.after), decision.reason);
  tell_console("epoch " + std::to_string(next_epoch) + ": " + decision.reason);
  (next_epoch <= run.epoch ? run.predicted_s : run.next_predicted_s) = decision.chosen.next_epoch_s;
  (next_epoch <= run.epoch ? run.forecast_batch : run.next_forecast_batch) =
      decision.forecast_batch;
  const bool changed = normalized(decision.after) != normalized(run.wanted);
  run.wanted = normalized(decision.after);
  if (changed && !context.start) {
    run.stays.push_back(next_epoch - std::max(1, run.last_change_epoch));
    run.last_change_epoch = next_epoch;
  }
  keep_requests_current();
}

MemberNeed Daemon::member_need(const std::string& gpu_type) const {
  MemberNeed need;
  need.gpu_type = gpu_type;
  need.gpus = config_.options.unit;
  need.cpus = member_cpus(nodes_, gpu_type, config_.options.unit);
  if (lead_info_) {
    need.memory = lead_info_->memory;
    if (lead_info_->end_s > 0) need.time_left_s = std::max(0.0, lead_info_->end_s - unix_now_s());
  }
  for (const auto& [type, text] : config_.options.member) {
    std::string error;
    if (type == gpu_type && !split_words(text, &need.extra, &error)) {
      JABAS_ASSERT(false, "--jabas-member was checked at start: " + error);
    }
  }
  return need;
}

MemberTemplate Daemon::member_template() const {
  MemberTemplate result;
  result.job_name = membership_.job_name();
  result.lead = lead_;
  result.run_dir = config_.run_dir;
  result.endpoint = server_.endpoint();
  result.working_directory = run_->hello.working_directory;
  result.executable = run_->hello.executable;
  result.environment = run_->hello.environment;
  return result;
}

void Daemon::keep_requests_current() {
  if (run_->decided_for == 0 || nodes_.empty()) return;
  const double now_s = unix_now_s();
  std::set<std::string> blocked;
  for (const std::string& type : usable_types(*run_)) {
    if (membership_.jobs().backing_off(type, now_s) || !enough_time(member_need(type)))
      blocked.insert(type);
  }
  GpuCounts wanted = run_->wanted;
  for (const auto& [type, gpus] : probes()) wanted[type] += gpus;
  const RequestPlan plan =
      plan_requests(wanted, run_->base, plan_units(), config_.options.unit, blocked);
  for (const int request : plan.give_back) {
    Member* member = membership_.jobs().find(request);
    for (const Worker* worker : workers_.of_job(std::to_string(member->job_id))) {
      server_.send(worker->id, Release{"no longer wanted"});
    }
    membership_.cancel(*member, "no longer wanted");
  }
  for (const RequestPlan::Ask& ask : plan.ask)
    membership_.ask(member_template(), member_need(ask.gpu_type));
}

std::vector<PlanUnit> Daemon::plan_units() const {
  std::vector<PlanUnit> units;
  const auto in = [](const std::vector<PlanMember>& generation, const std::string& id) {
    return std::any_of(generation.begin(), generation.end(),
                       [&](const PlanMember& m) { return m.worker_id == id; });
  };
  const std::vector<PlanMember> prepared = coordinator_.prepared_members();
  for (const auto& [request, member] : membership_.jobs().all()) {
    if (!member.alive()) continue;
    PlanUnit unit;
    unit.request = request;
    unit.gpu_type = member.gpu_type;
    unit.gpus = member.gpus;
    unit.started = member.state == MemberState::kRunning;
    unit.leaving = member.released || member.cancel_s > 0 || member.preempt_s > 0;
    const std::vector<const Worker*> workers = workers_.of_job(std::to_string(member.job_id));
    unit.ready =
        member.job_id > 0 && int(workers.size()) == member.gpus &&
        std::all_of(workers.begin(), workers.end(), [](const Worker* w) { return w->ready; });
    for (const Worker* worker : workers) {
      unit.workers.push_back({worker->id, member.gpu_type, worker->host});
      unit.in_use =
          unit.in_use || in(coordinator_.training(), worker->id) || in(prepared, worker->id);
    }
    units.push_back(unit);
  }
  return units;
}

void Daemon::on_member_change(const MemberChange& change) {
  if (change.kind != MemberChange::Kind::kEnded) return;
  const Member* member = membership_.jobs().find(change.request);
  probes_.erase(member->gpu_type);  // ended before it was measured: not asked for again
  // Its workers' last words may still be on the way: `finished` must not lose against squeue.
  const double until_s = unix_now_s() + config_.timings.last_words_s;
  for (const Worker* worker : workers_.of_job(std::to_string(member->job_id))) {
    last_words_.push_back({worker->id, "its job ended: " + member->reason, until_s});
  }
}

void Daemon::lose_ended_workers(double now_s) {
  std::vector<LastWords> due;
  const auto over = [&](const LastWords& one) { return now_s >= one.until_s; };
  std::copy_if(last_words_.begin(), last_words_.end(), std::back_inserter(due), over);
  std::erase_if(last_words_, over);
  for (const LastWords& one : due) lose_worker(one.worker_id, one.why);
}

std::string Daemon::waiting_note() const {
  if (run_->decided_for == 0) return "waiting for Slurm's answer to decide the first set";
  std::map<std::string, std::map<std::string, int>> pending;  // type -> reason -> GPUs
  for (const auto& [request, member] : membership_.jobs().all()) {
    if (!member.alive() || member.ready_s > 0 || member.cancel_s > 0) continue;
    const std::string reason = member.state == MemberState::kRunning ? "starting"
                               : member.reason.empty()               ? "submitted"
                                                                     : member.reason;
    pending[member.gpu_type][reason] += member.gpus;
  }
  std::string note;
  for (const auto& [type, reasons] : pending) {
    for (const auto& [reason, gpus] : reasons) {
      note += (note.empty() ? "waiting for " : ", ") + std::to_string(gpus) + " × " + type + ": " +
              reason;
    }
  }
  return note.empty() ? "waiting: no GPU can be asked for now" : note;
}

}  // namespace jabas
