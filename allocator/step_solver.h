// The exact search behind solve() and the choices of (b, N): for one set of GPUs and one local
// batch, the least step time over all splits of N virtual workers, and whether N can be done within
// a given time (shared design "model" 5).
//
// How: for V streams the step time of a GPU is a straight line in its passes, so a time limit
// admits 1 … p_V passes; N is feasible if it is a sum of one admitted V·passes per GPU
// (worker_sums.h). Most limits are decided without looking for sums: too few workers in total, or a
// GPU that can run any small number closes all gaps. The least limit is found by bisection between
// a straight line under all times and the even split; only times of the lines come into question.
//
// Workers are counted per entry of RankedGpus.types: with units of several GPUs, one for each unit.
// Units: seconds, samples.   Threads: one owner.   Ownership: the model must outlive the solver.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "allocator/config_solver.h"
#include "allocator/throughput_model.h"
#include "allocator/worker_sums.h"

namespace jabas {

struct StepLine {
  double workers_per_s = 0, offset_workers = 0;
};

class StepSolver {
 public:
  // `gpus` must not be empty and every type must be in the model.
  StepSolver(const RankedGpus& gpus, const ThroughputModel& model);

  int gpus() const { return static_cast<int>(gpu_count_); }
  // GPUs that share each entry's configuration.
  int unit() const { return unit_; }
  // Local batches profiled on every type: [min, max]; min > max if there is none.
  std::int64_t smallest_batch() const;
  std::int64_t largest_batch() const;
  // "" if one stream of this local batch fits on every GPU, else why not.
  std::string misfit(std::int64_t local_batch) const;

  // What follows is for this local batch, which must fit (misfit is ""), and at most max_workers
  // virtual workers in total. Cheap for a local batch that was set before.
  void set_local_batch(std::int64_t local_batch, std::int64_t max_workers);
  // A straight line under all step times: N workers take at least
  // (N + offset_workers) / workers_per_s. For pruning.
  StepLine step_line(std::int64_t local_batch);
  // No number of workers above this can be done within limit_s; itself it may not be feasible
  // either.
  std::int64_t workers_bound(double limit_s) const;
  // The most workers that fit into a step, for every step time at which there are more of them,
  // ascending; from the first that gives every GPU one. At most max_workers − gpus() + 1 on one
  // GPU.
  struct Most {
    double step_s = 0;
    std::int64_t workers = 0;
  };
  std::vector<Most> most_workers() const;
  // Can N workers be done within limit_s?
  bool feasible(std::int64_t workers, double limit_s) const;
  // The optimum; N must be at least gpus() and at most max_workers.
  double least_step_s(std::int64_t workers) const;
  Configuration solve(std::int64_t workers) const;

 private:
  struct Group {  // the GPUs of one type
    const TypeModel* model = nullptr;
    std::vector<std::size_t> ranks;
  };
  struct StreamLine {  // step times of V streams
    double base_s = 0, accum_s = 0;
    double step_s(std::int64_t passes) const { return base_s + accum_s * double(passes - 1); }
    std::int64_t passes_within(double limit_s, std::int64_t most) const;
  };
  struct Table {                                 // of one local batch
    std::vector<std::vector<StreamLine>> lines;  // [group][V-1]
    StepLine below;
  };
  struct Times {  // those of the tables next to a limit
    double up_to_s = 0, above_s = 0;
  };

  const Table& table(std::int64_t local_batch);
  // Of the slowest type at the size of the whole set.
  AllReduceTimes all_reduce(std::int64_t local_batch) const;
  std::vector<ShareLimits> limits(double limit_s, std::int64_t max_share) const;
  Times times_around(double limit_s, std::int64_t max_share) const;
  std::int64_t max_share(std::int64_t workers) const { return workers - gpus() + 1; }

  std::size_t gpu_count_ = 0;
  std::vector<Group> groups_;
  int unit_ = 1, nodes_ = 1;
  std::map<std::int64_t, Table> tables_;
  std::int64_t local_batch_ = 0, max_workers_ = 0;
  const Table* table_ = nullptr;  // at local_batch_
};

}  // namespace jabas
