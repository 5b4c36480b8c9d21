// Which GPUs the run could have at which time: the cluster, shrunk by a file of changes.
//
// The file is CSV: `time_s,type,gpus[,wait_s]` in any order of rows. From time_s on at most `gpus`
// GPUs of the type can be had, those of the run included, and one more waits wait_s in the queue
// (0 without the column). GPUs that the run has beyond the new number are taken away at that
// moment: a preemption. Before its first row a type has all GPUs of the cluster and no queue.
// Units: seconds since the start of the run.   Threads: const, safe to share.
// Errors: InputError naming file, line, column and value; a type outside the cluster is an error.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "allocator/gpu_set.h"

namespace jabas {
class CsvTable;
}

namespace jabas::sim {

class Availability {
 public:
  explicit Availability(GpuCounts cluster) : cluster_(std::move(cluster)) {}
  Availability(GpuCounts cluster, const CsvTable& changes);

  const GpuCounts& cluster() const { return cluster_; }
  GpuCounts gpus(double time_s) const;  // without types that have none
  double wait_s(const std::string& type, double time_s) const;
  // The next time after `time_s` at which anything changes; infinite if nothing does.
  double next_change(double time_s) const;

 private:
  struct Change {
    double time_s = 0;
    int gpus = 0;
    double wait_s = 0;
  };
  // The one in force, or nullptr before the first.
  const Change* change(const std::string& type, double time_s) const;

  GpuCounts cluster_;
  std::map<std::string, std::vector<Change>> changes_;  // by time
};

// "aws:16,rtx:8" (or with + between); a count may be 0. Throws UsageError naming `option`, the
// text and what is accepted.
GpuCounts parse_cluster(const std::string& text, const std::string& option);

}  // namespace jabas::sim
