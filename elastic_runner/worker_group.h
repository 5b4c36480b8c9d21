// Worker processes that talk to the daemon themselves: of a member job (`join`) or the base GPUs
// (`train`).
// Ownership: owns the processes; the destructor kills and reaps what is left.
// Threads: one.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace jabas {

struct EndedWorker {
  int local_rank = 0;
  int wait_status = 0;
  bool proper() const { return wait_status == 0; }
};

class WorkerGroup {
 public:
  // Starts `count` processes `executable worker --local-rank i`. On a machine where
  // CUDA_VISIBLE_DEVICES lists at least `count` devices each process sees its own one.
  WorkerGroup(const std::string& executable, int count);
  ~WorkerGroup();
  WorkerGroup(const WorkerGroup&) = delete;
  WorkerGroup& operator=(const WorkerGroup&) = delete;

  void signal(int number);
  // Those that ended since the last call.
  std::vector<EndedWorker> reap();
  bool empty() const { return running_.empty(); }

 private:
  std::map<pid_t, int> running_;  // pid -> local rank
};

}  // namespace jabas
