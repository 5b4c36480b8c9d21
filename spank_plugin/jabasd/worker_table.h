// The workers that have said hello: who they are, whether they are warm, when they were last heard.
// Pure. Units: seconds of any steady clock.   Threads: one owner.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "allocator/control_messages.h"

namespace jabas {

struct Worker {
  std::string id, host, gpu_type, job_id;
  int local_rank = 0;
  bool ready = false;  // standby and warm
  double heard_s = 0;
};

class WorkerTable {
 public:
  void hello(const Hello& hello, double now_s);
  // A worker known from the journal that has not said hello to this daemon yet; it counts as heard
  // now.
  void expect(const PlanMember& member, const std::string& job_id, double now_s);
  void heard(const std::string& id, double now_s);
  void ready(const std::string& id);
  void remove(const std::string& id) { workers_.erase(id); }
  void clear() { workers_.clear(); }

  bool known(const std::string& id) const { return workers_.count(id) > 0; }
  bool empty() const { return workers_.empty(); }
  const Worker* find(const std::string& id) const;
  std::vector<std::string> ids() const;
  // Of one Slurm job, by local rank.
  std::vector<const Worker*> of_job(const std::string& job_id) const;
  std::vector<std::string> silent(double now_s, double limit_s) const;

 private:
  std::map<std::string, Worker> workers_;
};

// "123.0" -> "123".
std::string job_of_worker(const std::string& worker_id);

}  // namespace jabas
