// The step times of single GPUs by type and local batch, laid out for asking about very many sets:
// t(V, a) = first_s + max(0, hidden − backward_s) + last + accum_s·a, with the all-reduce of the
// set.
//
// Units: seconds, samples.   Threads: one owner (all-reduce times are computed when first asked
// for). Ownership: the model must outlive it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "allocator/profile.h"
#include "allocator/throughput_model.h"

namespace jabas {

class SpeedTable {
 public:
  struct Streams {  // of V = 1, 2, …
    double first_s = 0, accum_s = 0, backward_s = 0;
  };
  struct Cell {
    const Streams* streams = nullptr;
    int max_streams = 0;  // 0: the local batch cannot be used on this type
    // w workers on one GPU take at least offset_s + w / workers_per_s, an all-reduce that hides
    // wholly left out.
    double workers_per_s = 0, offset_s = 0;
    double least_backward_s = 0;  // an all-reduce up to that long hides wholly
  };

  // The offset for an all-reduce that may not hide.
  static double offset_s(const Cell& cell, double hidden_s);
  // The most workers that one GPU runs within own_s seconds, the all-reduce left out: ascending,
  // from 0 workers at 0 s. `beyond`: at least one step is later than that.
  struct Step {
    double own_s = 0;
    std::int64_t workers = 0;
  };
  const std::vector<Step>& steps(std::size_t type, std::size_t batch, double beyond_s) const;

  // Types must be in the profile. fixed_local_batch > 0: only that one.
  SpeedTable(const Profile& profile, const ThroughputModel& model,
             const std::vector<std::string>& types, std::int64_t fixed_local_batch);

  std::size_t batches() const { return batch_count_; }
  std::int64_t batch(std::size_t index) const { return first_batch_ + std::int64_t(index); }
  const Cell& cell(std::size_t type, std::size_t batch) const {
    return cells_[type * batch_count_ + batch];
  }
  // At the best local batch.
  double samples_per_s(std::size_t type) const { return types_[type].samples_per_s; }
  int gpus_per_node(std::size_t type) const { return types_[type].gpus_per_node; }
  // Whether the local batch plays a part in the all-reduce of any type.
  bool reduce_by_batch() const { return reduce_by_batch_; }
  AllReduceTimes all_reduce(std::size_t type, int gpus, int nodes, std::size_t batch) const;

 private:
  struct Type {
    const TypeModel* model = nullptr;
    int gpus_per_node = 1;
    bool by_batch = false;
    double samples_per_s = 0;
    // [3·gpus + min(nodes, 3) − 1], then [batch] where it plays a part; empty = not asked for yet.
    mutable std::vector<std::vector<AllReduceTimes>> reduce;
  };
  std::vector<Type> types_;
  std::int64_t first_batch_ = 1;
  std::size_t batch_count_ = 0;
  std::vector<Cell> cells_;
  std::vector<Streams> streams_;
  mutable std::vector<std::vector<Step>> steps_;  // by cell
  bool reduce_by_batch_ = false;
};

}  // namespace jabas
