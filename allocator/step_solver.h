// The exact search behind solve() and choose_batch(): for one set of GPUs and one local batch, the
// least step time over all splits of N virtual workers, and whether N can be done within a given
// time (shared design "model" 5). How: a table t(type, w) of the fastest way to run w workers on
// one GPU; a time limit admits a set of w per type; N is feasible if it is a sum of one admitted w
// per GPU (sets of sums as bitsets, doubled over equal GPUs). Units: seconds, samples.   Threads:
// one owner.   Ownership: the model must outlive the solver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator/config_solver.h"
#include "allocator/throughput_model.h"

namespace jabas {

struct StepLine {
  double workers_per_s = 0, offset_workers = 0;
};

class StepSolver {
 public:
  // `gpus` must not be empty and every type must be in the model.
  StepSolver(const RankedGpus& gpus, const ThroughputModel& model);

  int gpus() const { return static_cast<int>(gpu_count_); }
  // Local batches profiled on every type: [min, max]; min > max if there is none.
  std::int64_t smallest_batch() const;
  std::int64_t largest_batch() const;
  // "" if one stream of this local batch fits on every GPU, else why not.
  std::string misfit(std::int64_t local_batch) const;

  // Prepares the tables for up to max_workers virtual workers in total. The batch must fit (misfit
  // is "").
  void set_local_batch(std::int64_t local_batch, std::int64_t max_workers);
  // No split of any number of workers, at most max_share of them on one GPU, does more workers per
  // second. For pruning;
  // needs no tables.
  double workers_per_s_bound(std::int64_t local_batch, std::int64_t max_share) const;
  // A straight line under all step times, beside what needs no tables: N workers take at least
  // (N + offset_workers) / workers_per_s.
  StepLine step_line(std::int64_t local_batch) const;
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
  Configuration solve(std::int64_t workers) const;

 private:
  struct Group {  // the GPUs of one type
    const TypeModel* model = nullptr;
    std::vector<std::size_t> ranks;
    std::vector<double> best_s;  // [w-1]: t(type, w)
  };
  // Of the slowest type at the size of the whole set.
  AllReduceTimes all_reduce(std::int64_t local_batch) const;
  std::vector<GpuShare> cheapest_shares(const Group& group, std::int64_t max_share,
                                        double limit_s) const;
  std::vector<GpuShare> assign(std::int64_t workers, double limit_s) const;

  std::size_t gpu_count_ = 0;
  std::vector<Group> groups_;
  int all_gpus_ = 0, nodes_ = 1;  // all_gpus_: with those that share a configuration
  std::int64_t local_batch_ = 0;
  AllReduceTimes all_reduce_;  // at local_batch_
};

}  // namespace jabas
