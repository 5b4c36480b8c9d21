// A Slurm of the imagination: records what is asked, gives jobs at once or lets them pend, as a
// test wants. Threads: safe; the daemon calls it from background threads.
#pragma once

#include <algorithm>
#include <ctime>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "spank_plugin/jabasd/slurm_client.h"

namespace jabas {

struct FakeCrash {};

class FakeSlurmClient : public SlurmClient {
 public:
  SubmitOutcome submit(const MemberSubmission& submission) override {
    const std::lock_guard lock(mutex_);
    submissions_.push_back(submission);
    if (!refusal_.empty()) return {SubmitOutcome::Kind::kRefused, 0, refusal_};
    JobRow row;
    row.job_id = next_job_id_++;
    row.name = value_of(submission, "--job-name=");
    row.comment = value_of(submission, "--comment=");
    row.state = pending_reason_.empty() ? "RUNNING" : "PENDING";
    row.reason = pending_reason_;
    row.node = pending_reason_.empty() ? "n1" : "";
    row.submit_s = row.start_s = double(std::time(nullptr));
    jobs_.push_back(row);
    if (silent_submits_ > 0) {
      --silent_submits_;
      return {SubmitOutcome::Kind::kUnknown, 0, "sbatch: no answer within its deadline"};
    }
    return {SubmitOutcome::Kind::kSubmitted, row.job_id, ""};
  }
  Answer<std::vector<JobRow>> jobs_named(const std::string& job_name) override {
    const std::lock_guard lock(mutex_);
    if (std::exchange(crash_, false)) throw FakeCrash{};
    if (down_) return {std::nullopt, "squeue: Unable to contact slurm controller"};
    std::vector<JobRow> rows;
    for (const JobRow& row : jobs_) {
      if (row.name == job_name) rows.push_back(row);
    }
    return {rows, ""};
  }
  std::string cancel_named(const std::string& job_name) override {
    const std::lock_guard lock(mutex_);
    cancelled_names_.push_back(job_name);
    for (JobRow& row : jobs_) {
      if (row.name == job_name && alive(row)) row.state = "CANCELLED";
    }
    return "";
  }
  std::string cancel_job(long job_id) override {
    const std::lock_guard lock(mutex_);
    cancelled_jobs_.push_back(job_id);
    end_job_locked(job_id, "CANCELLED");
    return "";
  }
  Answer<std::vector<NodeRow>> nodes() override {
    const std::lock_guard lock(mutex_);
    if (down_) return {std::nullopt, "sinfo: Unable to contact slurm controller"};
    return {nodes_, ""};
  }
  Answer<LeadInfo> lead(long) override {
    const std::lock_guard lock(mutex_);
    return {lead_, ""};
  }

  // What a test arranges and looks at.
  void set_node(const std::string& name, const std::string& type, int gpus, int used,
                bool usable = true) {
    const std::lock_guard lock(mutex_);
    NodeRow row;
    row.node = name;
    row.state = usable ? "idle" : "drained";
    row.usable = usable;
    row.gpus[type] = gpus;
    row.used[type] = used;
    row.cpus = 16;
    row.idle_cpus = 16;
    std::erase_if(nodes_, [&](const NodeRow& node) { return node.node == name; });
    nodes_.push_back(row);
  }
  void set_lead(const LeadInfo& lead) {
    const std::lock_guard lock(mutex_);
    lead_ = lead;
  }
  void set_pending_reason(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    pending_reason_ = reason;
  }
  void refuse(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    refusal_ = reason;
  }
  void set_down(bool down) {
    const std::lock_guard lock(mutex_);
    down_ = down;
  }
  // The daemon's thread gets a FakeCrash: it ends like one that was killed.
  void crash_next_squeue() {
    const std::lock_guard lock(mutex_);
    crash_ = true;
  }
  // The next `count` submissions succeed without sbatch saying so.
  void lose_answers(int count) {
    const std::lock_guard lock(mutex_);
    silent_submits_ = count;
  }
  void end_job(long job_id, const std::string& state) {
    const std::lock_guard lock(mutex_);
    end_job_locked(job_id, state);
  }
  std::vector<JobRow> jobs() const {
    const std::lock_guard lock(mutex_);
    return jobs_;
  }
  int alive_jobs() const {
    const std::lock_guard lock(mutex_);
    return int(std::count_if(jobs_.begin(), jobs_.end(), alive));
  }
  std::vector<MemberSubmission> submissions() const {
    const std::lock_guard lock(mutex_);
    return submissions_;
  }
  std::vector<std::string> cancelled_names() const {
    const std::lock_guard lock(mutex_);
    return cancelled_names_;
  }

 private:
  static bool alive(const JobRow& row) { return row.state == "RUNNING" || row.state == "PENDING"; }
  static std::string value_of(const MemberSubmission& submission, const std::string& prefix) {
    for (const std::string& word : submission.arguments) {
      if (word.rfind(prefix, 0) == 0) return word.substr(prefix.size());
    }
    return "";
  }
  void end_job_locked(long job_id, const std::string& state) {
    for (JobRow& row : jobs_) {
      if (row.job_id == job_id && alive(row)) {
        row.state = state;
        row.end_s = double(std::time(nullptr));
      }
    }
  }

  mutable std::mutex mutex_;  // guards everything below
  std::vector<MemberSubmission> submissions_;
  std::vector<JobRow> jobs_;
  std::vector<NodeRow> nodes_;
  std::vector<std::string> cancelled_names_;
  std::vector<long> cancelled_jobs_;
  LeadInfo lead_;
  std::string pending_reason_, refusal_;
  bool down_ = false, crash_ = false;
  int silent_submits_ = 0;
  long next_job_id_ = 101;
};

}  // namespace jabas
