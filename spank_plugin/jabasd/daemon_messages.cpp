// What consoles and workers say.
#include <spdlog/spdlog.h>

#include <chrono>

#include "allocator/error.h"
#include "allocator/report_text.h"
#include "spank_plugin/jabasd/daemon.h"

namespace jabas {
namespace {

double steady_now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void Daemon::on_received(const std::string& from, const Message& message) {
  workers_.heard(from, steady_now_s());
  if (run_ && from == run_->console) console_heard_s_ = steady_now_s();
  if (const Hello* hello = std::get_if<Hello>(&message)) {
    if (hello->role == "console") {
      on_console_hello(from, *hello);
    } else if (hello->role == "worker" && hello->worker_id == from) {
      on_worker_hello(from, *hello);
    } else {
      spdlog::warn("hello from \"{}\" as {} \"{}\" ignored", from, hello->role, hello->worker_id);
    }
    return;
  }
  if (std::holds_alternative<Heartbeat>(message)) return;
  if (!run_) {
    spdlog::debug("{} from {}: no run is going on", type_name(message), from);
    return;
  }
  if (from == run_->console) {
    if (const ConsoleBye* bye = std::get_if<ConsoleBye>(&message);
        bye != nullptr && active(state_)) {
      constexpr int kBySignal = 128;  // the shell's convention, kept by the console
      end_run(bye->exit_code > kBySignal ? "cancelled" : "failed",
              "the console ended with exit code " + std::to_string(bye->exit_code), bye->exit_code);
      fire(RunEvent::kConsoleGone);
    }
    return;
  }
  if (!workers_.known(from)) {
    spdlog::info("{} from {}, which has not said hello or is lost already", type_name(message),
                 from);
    return;
  }
  if (std::holds_alternative<Ready>(message)) {
    workers_.ready(from);
    return;
  }
  if (const Progress* progress = std::get_if<Progress>(&message)) return on_progress(*progress);
  if (const EpochReport* report = std::get_if<EpochReport>(&message))
    return on_epoch_report(*report);
  if (const WorkerTimes* times = std::get_if<WorkerTimes>(&message))
    return on_worker_times(from, *times);
  if (const Calibration* calibration = std::get_if<Calibration>(&message))
    return on_calibration(from, *calibration);
  apply(coordinator_.on_message(from, message));
  if (const Leaving* leaving = std::get_if<Leaving>(&message))
    return worker_leaves(from, leaving->reason);
  if (const Finished* finished = std::get_if<Finished>(&message)) {
    if (finished->test_accuracy >= 0) run_->test_accuracy = finished->test_accuracy;
    end_run("completed", "the last epoch is done", 0);
    fire(RunEvent::kTrainFinished);
  }
}

void Daemon::refuse(const std::string& to, const std::string& reason) {
  spdlog::warn("train refused: {}", reason);
  server_.send(to, Stop{int(ExitCode::kUsage), reason});
}

void Daemon::on_console_hello(const std::string& from, const Hello& hello) {
  if (run_ && active(state_)) {
    if (from == run_->console && hello.arguments == run_->hello.arguments) {
      server_.send(from, Welcome{incarnation_, Welcome{}.lease_s, run_->spec, ""});
      server_.resend(from);
      return;
    }
    refuse(from, "a train of this job is running already; start the next one when it has ended");
    return;
  }
  if (lead_lookup_ == LeadLookup::kRunning) {
    early_consoles_.emplace_back(from, hello);
    return;
  }
  const std::string base_type =
      lead_info_ && total(lead_info_->gpus) > 0 ? lead_info_->gpus.begin()->first : "";
  const Admission admission = admit(hello, config_.options, base_type);
  if (!admission.refusal.empty()) return refuse(from, admission.refusal);
  console_heard_s_ = steady_now_s();
  if (replay_.run_open && adopt_run(from, hello, admission)) return;
  begin_run(from, hello, admission);
}

void Daemon::begin_run(const std::string& from, const Hello& hello, const Admission& admission) {
  workers_.clear();
  profile_.begin_run();
  calibrating_.clear();
  probes_.clear();
  probed_.clear();
  coordinator_ = GenerationCoordinator(last_generation_);
  Run& run = run_.emplace();
  run.number = ++last_run_;
  run.console = from;
  run.hello = hello;
  run.spec = admission.spec;
  run.limits = admission.limits;
  run.base = run.wanted = admission.base;
  run.started_s = unix_now_s();
  run.wanted_batch =
      double(run.spec.batch_initial > 0 ? run.spec.batch_initial : run.spec.batch_min);
  run.cost.set_prices(price_list_.usd_per_gpu_h, run.started_s);
  for (const auto& [type, gpus] : run.base)
    run.cost.hold("base " + type, type, gpus, run.started_s);
  membership_.set_meter(&run.cost);
  journal_.set_run(run.number);
  journal_.train({hello, run.spec, run.base, price_list_, profile_.source()});
  next_status_s_ = next_note_s_ = prepare_not_before_s_ = fetch_again_s_ = 0;
  membership_.poll_every(config_.timings.squeue_s);
  server_.send(from, Welcome{incarnation_, Welcome{}.lease_s, run.spec, ""});
  fire(RunEvent::kTrainAccepted);
}

bool Daemon::adopt_run(const std::string& from, const Hello& hello, const Admission& admission) {
  replay_.run_open = false;
  if (hello.arguments != replay_.arguments) {
    journal_.end({"lost", "another train was started after the daemon's restart", replay_.epoch - 1,
                  -1, 0, -1, 0, 0});
    return false;
  }
  for (const Calibration& calibration : replay_.calibrations) profile_.calibrated(calibration);
  for (const CorrectionRecord& correction : replay_.corrections) profile_.restore(correction);
  Run& run = run_.emplace();
  run.number = last_run_;
  run.console = from;
  run.hello = hello;
  run.spec = admission.spec;
  run.limits = admission.limits;
  run.base = admission.base;
  run.wanted = replay_.wanted;
  run.started_s = replay_.started_s;
  run.epoch = replay_.epoch;
  run.decided_for = replay_.decided_epoch;
  run.epochs_done = run.epoch - 1;
  run.epoch_started_s = unix_now_s();
  run.trained_once = replay_.generation > 0;
  run.wanted_batch = double(run.spec.batch_initial);
  for (const auto& [type, gpus] : run.base)
    run.cost.hold("base " + type, type, gpus, run.started_s);
  for (const auto& [request, member] : membership_.jobs().all()) {
    if (member.state == MemberState::kRunning) {
      run.cost.hold(std::to_string(request), member.gpu_type, member.gpus, member.start_s);
    }
  }
  membership_.set_meter(&run.cost);
  server_.send(from, Welcome{incarnation_, Welcome{}.lease_s, run.spec, ""});
  for (const PlanMember& member : replay_.training) {
    workers_.expect(member, job_of_worker(member.worker_id), steady_now_s());
  }
  if (replay_.generation > 0) coordinator_.adopt(replay_.generation, replay_.training);
  trained_before_ = replay_.training;
  state_ = replay_.generation > 0 ? RunState::kRunning : RunState::kWaiting;
  journal_.warning("the daemon was restarted and adopted the run in epoch " +
                   std::to_string(run.epoch));
  for (const auto& [id, early] : early_hellos_) on_worker_hello(id, early);
  early_hellos_.clear();
  for (const ReplayedCommit& commit : replay_.open_commit) {
    state_ = commit.first ? RunState::kRecovering : RunState::kResizing;
    apply(coordinator_.adopt_commit(commit.generation, commit.attempt, commit.members,
                                    profile_json(), commit.first));
  }
  if (state_ == RunState::kWaiting && run.decided_for == 0) fetch_and_decide(run.epoch);
  return true;
}

void Daemon::on_worker_hello(const std::string& from, const Hello& hello) {
  if (!run_ || !active(state_)) {
    if (replay_.run_open) {
      early_hellos_.emplace_back(from, hello);
    } else {
      server_.send(from, Stop{0, "no run is going on"});
    }
    return;
  }
  const Member* member = membership_.jobs().find_job(hello.job_id);
  if (state_ == RunState::kFinishing || state_ == RunState::kFailed ||
      state_ == RunState::kDraining ||
      (member != nullptr && (member->released || member->cancel_s > 0))) {
    server_.send(from, Release{"no longer wanted"});
    return;
  }
  workers_.hello(hello, steady_now_s());
  server_.send(from, Welcome{incarnation_, Welcome{}.lease_s, run_->spec,
                             to_calibrate(*workers_.find(from))});
  server_.resend(from);
}

void Daemon::on_progress(const Progress& progress) {
  Run& run = *run_;
  for (const BatchDecision& decision : progress.batch_decisions) {
    journal_.batch(decision);
    run.batch_history.emplace_back(decision.step, decision.wanted_batch);
    run.wanted_batch = decision.wanted_batch;
    run.local_batch = decision.local_batch;
    if (decision.grad_sqr > 0) {
      run.grad_sqr = decision.grad_sqr;
      run.grad_var = decision.grad_var;
      run.noise_history.emplace_back(decision.step, decision.grad_var / decision.grad_sqr);
    }
  }
  run.emulated_steps = progress.emulated_steps;
  run.emulation_overruns = progress.emulation_overruns;
  if (progress.epoch != run.epoch) return;  // of the epoch that has just been reported
  run.progress = progress;
  run.progress->batch_decisions.clear();
  run.progress_at_s = unix_now_s();
}

void Daemon::on_epoch_report(const EpochReport& report) {
  Run& run = *run_;
  if (report.epoch != run.epoch) {
    spdlog::warn("report of epoch {} while epoch {} trains: ignored", report.epoch, run.epoch);
    return;
  }
  const double now_s = unix_now_s();
  EpochRecord record;
  record.report = report;
  record.duration_s = now_s - run.epoch_started_s;
  if (run.cost.complete()) record.cost_usd = run.cost.total_usd(now_s) - run.epoch_start_usd;
  record.predicted_s = run.predicted_s;
  record.forecast_batch = run.forecast_batch;
  for (const PlanMember& member : coordinator_.training()) ++record.gpus[member.gpu_type];
  journal_.epoch(record);
  tell_console(to_text(report, run.spec.epochs));

  run.last_epoch_s = record.duration_s;
  run.evaluation_s = report.evaluation_s;
  run.test_accuracy = report.test_accuracy;
  if (report.wanted_batch > 0) run.wanted_batch = report.wanted_batch;
  if (report.grad_sqr > 0) {
    run.grad_sqr = report.grad_sqr;
    run.grad_var = report.grad_var;
  }
  run.emulated_steps = report.emulated_steps;
  run.emulation_overruns = report.emulation_overruns;
  run.epochs_done = report.epoch;
  // Too short for a decision in time: it is still made and recorded, and takes effect one boundary
  // later.
  if (report.epoch < run.spec.epochs && run.decided_for <= report.epoch)
    fetch_and_decide(report.epoch + 1);
  run.epoch = report.epoch + 1;
  run.epoch_started_s = now_s;
  run.epoch_start_usd = run.cost.total_usd(now_s);
  run.predicted_s = run.next_predicted_s;
  run.forecast_batch = run.next_forecast_batch;
  run.progress.reset();
}

void Daemon::lose_worker(const std::string& id, const std::string& why) {
  const Worker* worker = workers_.find(id);
  if (worker == nullptr) return;
  const std::string job_id = worker->job_id;
  spdlog::warn("worker {} lost: {}", id, why);
  workers_.remove(id);
  server_.forget(id);
  Member* member = membership_.jobs().find_job(job_id);
  if (member != nullptr && active(state_) && !member->released) {
    // What is left of the member cannot be used as a whole any more.
    membership_.cancel(*member, "worker " + id + " lost: " + why);
    for (const Worker* sibling : workers_.of_job(job_id)) {
      server_.send(sibling->id, Release{"another worker of its member was lost"});
    }
  }
  apply(coordinator_.on_lost(id));
}

void Daemon::worker_leaves(const std::string& id, const std::string& reason) {
  const Worker* worker = workers_.find(id);
  if (worker == nullptr) return;
  spdlog::info("worker {} leaves: {}", id, reason);
  Member* member = membership_.jobs().find_job(worker->job_id);
  workers_.remove(id);
  server_.forget(id);
  if (member != nullptr)
    membership_.release(*member, reason, unix_now_s() + config_.timings.leave_s);
  // At the end of the last epoch everybody leaves, some before rank 0 has said `finished`. Earlier,
  // one that leaves a generation it was to stay in is a loss; the coordinator knows those a switch
  // leaves behind.
  const bool last_epoch = run_->epoch >= run_->spec.epochs;
  if ((trains(state_) && !last_epoch) || state_ == RunState::kRecovering)
    apply(coordinator_.on_lost(id));
}

}  // namespace jabas
