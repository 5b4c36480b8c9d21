#include "spank_plugin/jabasd/member_jobs.h"

#include <algorithm>

#include "allocator/error.h"
#include "spank_plugin/jabasd/member_submission.h"
#include "spank_plugin/jabasd/pending_reason.h"

namespace jabas {
namespace {

using Kind = MemberChange::Kind;
constexpr double kFirstBackOff_s = 30, kLongestBackOff_s = 600;
constexpr int kListsUntilGone = 2;

}  // namespace

std::string to_text(MemberState state) {
  switch (state) {
    case MemberState::kSubmitting:
      return "submitting";
    case MemberState::kUnknown:
      return "unknown";
    case MemberState::kPending:
      return "pending";
    case MemberState::kRunning:
      return "running";
    case MemberState::kEnded:
      return "ended";
  }
  JABAS_ASSERT(false, "a member state without text");
}

int MemberJobs::add(const std::string& gpu_type, int gpus, double now_s) {
  Member member;
  member.request = ++last_request_;
  member.gpu_type = gpu_type;
  member.gpus = gpus;
  member.requested_s = now_s;
  members_.emplace(member.request, member);
  return member.request;
}

void MemberJobs::adopt(const Member& member) {
  last_request_ = std::max(last_request_, member.request);
  members_[member.request] = member;
}

Member* MemberJobs::find(int request) {
  const auto found = members_.find(request);
  return found == members_.end() ? nullptr : &found->second;
}

Member* MemberJobs::find_job(const std::string& job_id) {
  for (auto& [request, member] : members_) {
    if (member.job_id > 0 && std::to_string(member.job_id) == job_id) return &member;
  }
  return nullptr;
}

std::vector<MemberChange> MemberJobs::submit_outcome(int request, const SubmitOutcome& outcome,
                                                     double now_s) {
  Member* member = find(request);
  JABAS_ASSERT(member != nullptr, "outcome of a request that was never made");
  // squeue may have shown the job before sbatch answered.
  if (member->job_id > 0) return {};
  switch (outcome.kind) {
    case SubmitOutcome::Kind::kSubmitted:
      member->job_id = outcome.job_id;
      member->submit_s = now_s;
      member->state = MemberState::kPending;
      return {{Kind::kPending, request}};
    case SubmitOutcome::Kind::kUnknown:
      member->state = MemberState::kUnknown;
      member->submit_s = now_s;
      member->reason = outcome.reason;
      return {};
    case SubmitOutcome::Kind::kRefused:
      member->state = MemberState::kEnded;
      member->end_s = now_s;
      member->reason = outcome.reason;
      failed(member->gpu_type, now_s);
      return {{Kind::kSubmitFailed, request}};
  }
  JABAS_ASSERT(false, "an outcome without a case");
}

void MemberJobs::end(Member& member, double now_s, std::vector<MemberChange>* changes) {
  if (!member.alive()) return;
  member.state = MemberState::kEnded;
  if (member.end_s == 0) member.end_s = now_s;
  if (member.ready_s == 0 && member.cancel_s == 0) failed(member.gpu_type, now_s);
  changes->push_back({Kind::kEnded, member.request});
}

void MemberJobs::apply(Member& member, const JobRow& row, double now_s,
                       std::vector<MemberChange>* changes) {
  member.missing_lists = 0;
  member.job_id = row.job_id;
  if (row.submit_s > 0) member.submit_s = row.submit_s;
  if (row.state != "PENDING" && row.start_s > 0) member.start_s = row.start_s;
  if (!row.node.empty()) member.node = row.node;
  if (ended_state(row.state)) {
    if (row.end_s > 0) member.end_s = row.end_s;
    if (member.alive()) member.reason = row.state;
    end(member, now_s, changes);
    return;
  }
  if (row.preempt_s > 0 && member.preempt_s == 0) {
    member.preempt_s = row.preempt_s;
    changes->push_back({Kind::kPreempted, member.request});
  }
  if (row.state == "PENDING") {
    const bool was_pending = member.state == MemberState::kPending;
    const std::string before = member.reason;
    member.state = MemberState::kPending;
    member.reason = row.reason;
    if (pending_kind(row.reason) == PendingKind::kNever && member.cancel_s == 0) {
      failed(member.gpu_type, now_s);
      changes->push_back({Kind::kNeverStarts, member.request});
    } else if (!was_pending || before != row.reason) {
      changes->push_back({Kind::kPending, member.request});
    }
    return;
  }
  if (member.state != MemberState::kRunning) {
    member.state = MemberState::kRunning;
    member.reason = "";
    if (member.start_s == 0) member.start_s = now_s;
    changes->push_back({Kind::kRunning, member.request});
  }
}

std::vector<MemberChange> MemberJobs::reconcile(const std::vector<JobRow>& rows, double asked_s,
                                                double now_s) {
  std::vector<MemberChange> changes;
  std::map<int, const JobRow*> by_request;
  for (const JobRow& row : rows) {
    if (const int request = request_of_comment(row.comment); request > 0)
      by_request[request] = &row;
  }
  for (auto& [request, member] : members_) {
    const auto row = by_request.find(request);
    if (row != by_request.end()) {
      if (member.alive()) apply(member, *row->second, now_s, &changes);
      continue;
    }
    if (!member.alive() || member.state == MemberState::kSubmitting || member.submit_s >= asked_s)
      continue;
    if (++member.missing_lists < kListsUntilGone) continue;
    if (member.state == MemberState::kUnknown) {
      member.state = MemberState::kEnded;
      member.end_s = now_s;
      failed(member.gpu_type, now_s);
      changes.push_back({Kind::kSubmitFailed, request});
    } else {
      member.reason = "no longer known to Slurm";
      end(member, now_s, &changes);
    }
  }
  return changes;
}

GpuCounts MemberJobs::outstanding() const {
  GpuCounts counts;
  for (const auto& [request, member] : members_) {
    if (member.alive() && !member.released && member.cancel_s == 0)
      counts[member.gpu_type] += member.gpus;
  }
  return counts;
}

bool MemberJobs::any_alive() const {
  return std::any_of(members_.begin(), members_.end(),
                     [](const auto& entry) { return entry.second.alive(); });
}

bool MemberJobs::any_submitting() const {
  return std::any_of(members_.begin(), members_.end(), [](const auto& entry) {
    return entry.second.state == MemberState::kSubmitting;
  });
}

bool MemberJobs::pends_for_resources(const std::string& gpu_type) const {
  return std::any_of(members_.begin(), members_.end(), [&](const auto& entry) {
    const Member& member = entry.second;
    return member.gpu_type == gpu_type && member.state == MemberState::kPending &&
           member.cancel_s == 0 && pending_kind(member.reason) == PendingKind::kWaiting;
  });
}

void MemberJobs::failed(const std::string& gpu_type, double now_s) {
  Failures& failures = failures_[gpu_type];
  double wait_s = kFirstBackOff_s;
  for (int i = 0; i < failures.count && wait_s < kLongestBackOff_s; ++i) wait_s *= 2;
  ++failures.count;
  failures.until_s = now_s + std::min(wait_s, kLongestBackOff_s);
}

bool MemberJobs::backing_off(const std::string& gpu_type, double now_s) const {
  const auto found = failures_.find(gpu_type);
  return found != failures_.end() && now_s < found->second.until_s;
}

}  // namespace jabas
