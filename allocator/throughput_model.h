// Predicts the time of a step from a profile (shared design "model" 4): per GPU
//   T = D + (D+F+K)·a + F + max(K, Σ_{i<last} R_i) + R_last + once
// and for the set the maximum over its GPUs. Prepared once per profile, then cheap.
//
// Our rules: once = U. One GPU alone pays no all-reduce. Measured times are used where there are
// any. Elsewhere: in V by the fit n(V) = α·ln V + β of the normalised throughput, in b by straight
// lines between profiled local batches, outside the profiled range in proportion to b. Times never
// fall when b or V grow (a monotone envelope over the measurements, which are noisy).
//
// The reference's rules (--reference-rounding; shared design "reference"): its roundings, profiled
// local batches only, all V by the fit once the largest profiled one is ≥ 3, even one GPU pays the
// intercept of the all-reduce, and once = BatchNorm sync per replica + (U + copies of the weights)
// · f, where f is the last bucket's share of the bytes with overlap and 1 without.
//
// Units: seconds, samples, bytes.   Threads: const, safe to share.
// Not promised: that a local batch or stream count fits into memory; ask max_streams first.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "allocator/communication_model.h"
#include "allocator/config_solver.h"
#include "allocator/profile.h"

namespace jabas {

// One concurrent forward and backward of V replicas.
struct PassTimes {
  double data_s = 0, forward_s = 0, backward_s = 0;  // D, F, K
};

class TypeModel {
 public:
  explicit TypeModel(const TypeProfile& type);
  // With the profile's network and, if the reference's rules are asked for, its share f.
  TypeModel(const TypeProfile& type, const Profile& profile, const ModelRules& rules);

  std::int64_t smallest_batch() const { return batches_.front(); }
  std::int64_t largest_batch() const { return batches_.back(); }
  // V_max by memory: that of the next larger local batch with a known limit; 0 = does not fit or
  // not known to fit, or (reference) not profiled.
  int max_streams(std::int64_t local_batch) const;
  PassTimes pass(std::int64_t local_batch, int streams) const;
  // What a step costs once, beside its passes and the all-reduce.
  double once_s(std::int64_t local_batch, int streams) const;
  // U: the weights are the same whatever b and V, so the mean over the type's points.
  double update_s() const { return update_s_; }
  AllReduceTimes all_reduce(int gpus, int nodes, std::int64_t local_batch) const {
    return communication_.all_reduce(gpus, nodes, local_batch);
  }
  double step_s(std::int64_t local_batch, const GpuShare& share,
                const AllReduceTimes& all_reduce) const;

 private:
  PassTimes at(std::size_t batch_index, int streams) const;
  std::size_t index_of(std::int64_t local_batch) const;

  std::vector<std::int64_t> batches_;           // profiled, ascending
  std::vector<std::vector<PassTimes>> passes_;  // [batch index][V-1]; ours: monotone in both
  std::map<std::int64_t, int> max_streams_;
  double update_s_ = 0;
  bool profiled_only_ = false;             // reference
  std::vector<std::vector<double>> once_;  // [batch index][V-1], reference; else update_s_
  CommunicationModel communication_;
};

class ThroughputModel {
 public:
  explicit ThroughputModel(const Profile& profile, const ModelRules& rules = {});

  // nullptr if the profile lacks the type. Valid as long as the model.
  const TypeModel* find(const std::string& type) const;

 private:
  std::map<std::string, TypeModel> types_;
};

}  // namespace jabas
