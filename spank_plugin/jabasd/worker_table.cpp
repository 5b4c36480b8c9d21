#include "spank_plugin/jabasd/worker_table.h"

#include <algorithm>

namespace jabas {

std::string job_of_worker(const std::string& worker_id) {
  return worker_id.substr(0, worker_id.rfind('.'));
}

void WorkerTable::hello(const Hello& hello, double now_s) {
  Worker& worker = workers_[hello.worker_id];
  worker.id = hello.worker_id;
  worker.host = hello.host;
  worker.gpu_type = hello.gpu_type;
  worker.job_id = hello.job_id.empty() ? job_of_worker(hello.worker_id) : hello.job_id;
  worker.local_rank = hello.local_rank;
  worker.heard_s = now_s;
  // One that trains or has built is warm, even if its `ready` went to a daemon before this one.
  worker.ready = worker.ready || hello.generation_trained > 0 || hello.built;
}

void WorkerTable::expect(const PlanMember& member, const std::string& job_id, double now_s) {
  Worker& worker = workers_[member.worker_id];
  worker.id = member.worker_id;
  worker.host = member.host;
  worker.gpu_type = member.gpu_type;
  worker.job_id = job_id;
  worker.ready = true;
  worker.heard_s = now_s;
}

void WorkerTable::heard(const std::string& id, double now_s) {
  if (const auto found = workers_.find(id); found != workers_.end()) found->second.heard_s = now_s;
}

void WorkerTable::ready(const std::string& id) {
  if (const auto found = workers_.find(id); found != workers_.end()) found->second.ready = true;
}

const Worker* WorkerTable::find(const std::string& id) const {
  const auto found = workers_.find(id);
  return found == workers_.end() ? nullptr : &found->second;
}

std::vector<std::string> WorkerTable::ids() const {
  std::vector<std::string> result;
  for (const auto& [id, worker] : workers_) result.push_back(id);
  return result;
}

std::vector<const Worker*> WorkerTable::of_job(const std::string& job_id) const {
  std::vector<const Worker*> result;
  for (const auto& [id, worker] : workers_) {
    if (worker.job_id == job_id) result.push_back(&worker);
  }
  std::sort(result.begin(), result.end(),
            [](const Worker* a, const Worker* b) { return a->local_rank < b->local_rank; });
  return result;
}

std::vector<std::string> WorkerTable::silent(double now_s, double limit_s) const {
  std::vector<std::string> result;
  for (const auto& [id, worker] : workers_) {
    if (now_s - worker.heard_s > limit_s) result.push_back(id);
  }
  return result;
}

}  // namespace jabas
