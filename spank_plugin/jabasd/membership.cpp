#include "spank_plugin/jabasd/membership.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "allocator/error.h"

namespace jabas {

Membership::Membership(std::shared_ptr<SlurmClient> slurm, BackgroundCalls* calls,
                       RunJournal* journal, std::string job_name, double squeue_interval_s)
    : slurm_(std::move(slurm)),
      calls_(calls),
      journal_(journal),
      job_name_(std::move(job_name)),
      squeue_interval_s_(squeue_interval_s) {}

void Membership::ask(const MemberTemplate& run, MemberNeed need) {
  need.request = jobs_.add(need.gpu_type, need.gpus, unix_now_s());
  if (!journal_->request(*jobs_.find(need.request), job_name_)) {
    const SubmitOutcome refused{SubmitOutcome::Kind::kRefused, 0, "the journal cannot be written"};
    report(jobs_.submit_outcome(need.request, refused, unix_now_s()));
    return;
  }
  calls_->post(
      [this, slurm = slurm_, request = need.request, submission = member_submission(run, need)] {
        const SubmitOutcome outcome = slurm->submit(submission);
        return [this, request, outcome] {
          if (outcome.kind == SubmitOutcome::Kind::kUnknown)
            problem(outcome.reason + "; looking for the job in squeue");
          const std::vector<MemberChange> changes =
              jobs_.submit_outcome(request, outcome, unix_now_s());
          if (outcome.kind == SubmitOutcome::Kind::kSubmitted)
            journal_->submitted(*jobs_.find(request));
          next_squeue_s_ = 0;
          report(changes);
        };
      });
}

void Membership::ready(Member& member) {
  if (member.ready_s > 0) return;
  member.ready_s = unix_now_s();
  jobs_.joined(member.gpu_type);
  if (member.start_s > 0) startup_s_ = std::max(startup_s_, member.ready_s - member.start_s);
  journal_->member(member, "ready");
}

void Membership::release(Member& member, const std::string& reason, double deadline_s) {
  if (member.released || !member.alive()) return;
  member.released = true;
  member.reason = reason;
  release_deadline_s_[member.request] = deadline_s;
  journal_->member(member, "released");
}

void Membership::cancel(Member& member, const std::string& reason) {
  if (!member.alive() || member.cancel_s > 0) return;
  member.cancel_s = unix_now_s();
  member.reason = reason;
  if (member.job_id == 0) return;  // tick() cancels it once its id is known
  journal_->member(member, member.released ? "released" : "cancelled");
  calls_->post([this, slurm = slurm_, job_id = member.job_id, request = member.request] {
    const std::string failure = slurm->cancel_job(job_id);
    return [this, failure, request] {
      next_squeue_s_ = 0;
      if (failure.empty()) return;
      problem(failure);
      // Asked again by tick().
      release_deadline_s_[request] = unix_now_s() + squeue_interval_s_;
    };
  });
}

void Membership::cancel_all() {
  for (const auto& [request, entry] : jobs_.all()) {
    Member& member = *jobs_.find(request);
    if (!member.alive() || member.cancel_s > 0) continue;
    member.cancel_s = unix_now_s();
    if (member.job_id > 0) journal_->member(member, "cancelled");
  }
  cancel_all_wanted_ = true;
  tick();
}

void Membership::cancel_named(const std::string& job_name) {
  calls_->post([this, slurm = slurm_, job_name] {
    const std::string failure = slurm->cancel_named(job_name);
    return [this, failure] {
      if (!failure.empty()) problem(failure);
    };
  });
}

void Membership::tick() {
  const double now_s = unix_now_s();
  // A submission on its way must be over first, or its job would be missed.
  if (cancel_all_wanted_ && !cancel_all_running_ && !jobs_.any_submitting()) {
    cancel_all_running_ = true;
    cancel_all_wanted_ = false;
    calls_->post([this, slurm = slurm_] {
      const std::string failure = slurm->cancel_named(job_name_);
      return [this, failure] {
        cancel_all_running_ = false;
        next_squeue_s_ = 0;
        if (failure.empty()) return;
        problem(failure);
        cancel_all_wanted_ = true;
      };
    });
  }
  for (auto due = release_deadline_s_.begin(); due != release_deadline_s_.end();) {
    Member* member = jobs_.find(due->first);
    if (member == nullptr || !member->alive()) {
      due = release_deadline_s_.erase(due);
    } else if (now_s >= due->second) {
      member->cancel_s = 0;
      due = release_deadline_s_.erase(due);
      cancel(*member, member->reason);
    } else {
      ++due;
    }
  }
  if (now_s >= next_squeue_s_ && jobs_.any_alive() && !squeue_running_) ask_squeue();
}

void Membership::ask_squeue() {
  squeue_running_ = true;
  const double asked_s = unix_now_s();
  next_squeue_s_ = asked_s + squeue_interval_s_;
  calls_->post([this, slurm = slurm_, asked_s] {
    Answer<std::vector<JobRow>> answer = slurm->jobs_named(job_name_);
    return [this, asked_s, answer = std::move(answer)] { on_jobs(answer, asked_s); };
  });
}

void Membership::on_jobs(const Answer<std::vector<JobRow>>& answer, double asked_s) {
  squeue_running_ = false;
  if (!answer.value) {
    problem(answer.problem + "; the last known state of the member jobs is kept");
    return;
  }
  last_problem_.clear();
  report(jobs_.reconcile(*answer.value, asked_s, unix_now_s()));
}

void Membership::journal_end(Member& member) {
  if (meter_ != nullptr) meter_->end(std::to_string(member.request), member.end_s);
  const char* state = member.cancel_s > 0 ? "cancelled" : member.released ? "ended" : "lost";
  journal_->member(member, state);
}

void Membership::report(const std::vector<MemberChange>& changes) {
  for (const MemberChange& change : changes) {
    Member& member = *jobs_.find(change.request);
    switch (change.kind) {
      case MemberChange::Kind::kPending:
        journal_->member(member, "pending");
        // Given back while its sbatch was still under way.
        if (member.cancel_s > 0) {
          member.cancel_s = 0;
          cancel(member, "no longer wanted");
        }
        break;
      case MemberChange::Kind::kRunning:
        journal_->member(member, "running");
        if (meter_ != nullptr) {
          meter_->hold(std::to_string(member.request), member.gpu_type, member.gpus,
                       member.start_s);
        }
        break;
      case MemberChange::Kind::kEnded:
        journal_end(member);
        break;
      case MemberChange::Kind::kNeverStarts:
        journal_->warning("member job " + std::to_string(member.job_id) + " (" + member.gpu_type +
                          ") will never start: " + member.reason +
                          "; it is cancelled, the run goes on without it");
        cancel(member, member.reason);
        break;
      case MemberChange::Kind::kPreempted:
        journal_->warning("member job " + std::to_string(member.job_id) + " (" + member.gpu_type +
                          ") is being preempted; it leaves at the next boundary at the latest");
        break;
      case MemberChange::Kind::kSubmitFailed:
        journal_->submit_failed(member);
        break;
    }
    if (listener_) listener_(change);
  }
}

void Membership::problem(const std::string& text) {
  if (text != last_problem_) journal_->warning(text);
  last_problem_ = text;
}

}  // namespace jabas
