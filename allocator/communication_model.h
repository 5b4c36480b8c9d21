// The all-reduce of one step on GPUs of one type (shared design "model" 4): from buckets, bandwidth
// and measured points, or, where a profile has them, from measured exposed times. In a mixed set
// the slowest type decides.
// Units: seconds, bytes.   Threads: const, safe to share.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "allocator/profile.h"

namespace jabas {

// Least squares y = slope·x + offset; one point or equal x: through the origin. `points` must not
// be empty.
struct Line {
  double slope = 0, offset = 0;
};
Line fit_line(const std::vector<std::pair<double, double>>& points);

// Of all buckets but the last, which hide behind backward, and of the last, which cannot.
struct AllReduceTimes {
  double hidden_s = 0, last_s = 0;
};
AllReduceTimes slower(const AllReduceTimes& a, const AllReduceTimes& b);

class CommunicationModel {
 public:
  CommunicationModel() = default;  // costs nothing
  // one_gpu_pays: the reference charges even a single GPU the intercept of its fit.
  CommunicationModel(const Profile& profile, const TypeProfile& type, bool one_gpu_pays);

  AllReduceTimes all_reduce(int gpus, int nodes, std::int64_t local_batch) const;

 private:
  // Measured = slope · ideal + offset of an all-reduce.
  struct Network {
    double bandwidth_bytes_per_s = 0, slope = 1, offset_s = 0;
  };
  static Network fit(const CommunicationProfile& profile);

  std::vector<double> bucket_bytes_;
  Network intra_, inter_;
  std::vector<ExposedSync> sync_intra_, sync_inter_;
  int least_gpus_ = 2;
};

}  // namespace jabas
