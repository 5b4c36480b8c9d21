// Predicts the time of a step from a profile (shared design "model" 4, our rules): per GPU
//   T = D + (D+F+K)·a + F + max(K, Σ_{i<last} R_i) + R_last + U
// and for the set the maximum over its GPUs. One GPU alone pays no all-reduce. Prepared once per
// profile, then cheap. Measured times are used where there are any. Elsewhere: in V by the fit n(V)
// = α·ln V + β of the normalised throughput, in b by straight lines between profiled local batches,
// outside the profiled range in proportion to b. Times never fall when b or V grow (a monotone
// envelope over the measurements, which are noisy). Units: seconds, samples, bytes.   Threads:
// const, safe to share. Not promised: that a local batch or stream count fits into memory; ask
// max_streams first.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "allocator/config_solver.h"
#include "allocator/profile.h"

namespace jabas {

// One concurrent forward and backward of V replicas.
struct PassTimes {
  double data_s = 0, forward_s = 0, backward_s = 0;  // D, F, K
};

// All-reduce of one step: of all buckets but the last, which hide behind backward, and of the last,
// which cannot.
struct AllReduceTimes {
  double hidden_s = 0, last_s = 0;
};

class TypeModel {
 public:
  explicit TypeModel(const TypeProfile& type);

  std::int64_t smallest_batch() const { return batches_.front(); }
  std::int64_t largest_batch() const { return batches_.back(); }
  // V_max by memory: that of the next larger local batch with a known limit; 0 = does not fit or
  // not known to fit.
  int max_streams(std::int64_t local_batch) const;
  PassTimes pass(std::int64_t local_batch, int streams) const;
  // U: the weights are the same whatever b and V, so the mean over the type's points.
  double update_s() const { return update_s_; }
  double step_s(std::int64_t local_batch, const GpuShare& share,
                const AllReduceTimes& all_reduce) const;

 private:
  PassTimes at(std::size_t batch_index, int streams) const;
  std::vector<std::int64_t> batches_;           // profiled, ascending
  std::vector<std::vector<PassTimes>> passes_;  // [batch index][V-1], monotone in both
  std::map<std::int64_t, int> max_streams_;
  double update_s_ = 0;
};

class ThroughputModel {
 public:
  explicit ThroughputModel(const Profile& profile);

  // nullptr if the profile lacks the type. Valid as long as the model.
  const TypeModel* find(const std::string& type) const;
  AllReduceTimes all_reduce(int gpus, int nodes) const;

 private:
  // Measured = slope · ideal + offset of an all-reduce, least squares.
  struct Network {
    double bandwidth_bytes_per_s = 0, slope = 1, offset_s = 0;
  };
  static Network fit(const CommunicationProfile& profile);
  std::map<std::string, TypeModel> types_;
  std::vector<double> bucket_bytes_;
  Network intra_, inter_;
};

// Least squares y = slope·x + offset; one point or equal x: through the origin. `points` must not
// be empty.
struct Line {
  double slope = 0, offset = 0;
};
Line fit_line(const std::vector<std::pair<double, double>>& points);

}  // namespace jabas
