// The all-reduce of a run without a profile of the network, from what its ranks measured while
// training: seconds by bucket, for each number of GPUs, inside one node and across nodes.
//
// A rank that is early waits inside the all-reduce for the late ones, so the shortest time among
// the ranks of a generation counts: that of the rank which came last.
// Units: bytes, seconds.   Threads: one owner.   Pure.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "allocator/control_messages.h"
#include "allocator/profile.h"

namespace jabas {

class MeasuredNetwork {
 public:
  // One rank's typical times in a generation on `gpus` GPUs and `nodes` nodes. True when all of the
  // generation have reported: shortest() is what counts, and has been taken in.
  bool report(int generation, const std::string& worker, const std::vector<BucketTime>& buckets,
              int gpus, int nodes);
  const std::vector<BucketTime>& shortest() const { return shortest_; }
  void set_buckets(const std::vector<BucketTime>& buckets);

  // Sizes of the buckets and measured points, where anything is known. The bandwidth is nominal:
  // only points on its line are given.
  void describe(Profile* profile) const;

 private:
  std::vector<double> bucket_bytes_;
  // (across nodes, GPUs) -> by bucket
  std::map<std::pair<bool, int>, std::vector<BucketTime>> times_;
  int generation_ = 0;
  std::map<std::string, std::vector<BucketTime>> reports_;  // of the generation, by rank
  std::vector<BucketTime> shortest_;
};

double total_s(const std::vector<BucketTime>& buckets);

}  // namespace jabas
