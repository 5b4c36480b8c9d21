#include "allocator/measured_network.h"

#include <algorithm>
#include <cmath>

#include "allocator/communication_model.h"

namespace jabas {
namespace {

constexpr double kNominalBytesPerS = 1e9;

bool plausible(const std::vector<BucketTime>& buckets) {
  return !buckets.empty() && std::all_of(buckets.begin(), buckets.end(), [](const BucketTime& b) {
    return b.bytes > 0 && b.bytes <= kMaxBytes && b.all_reduce_s >= 0 &&
           b.all_reduce_s <= kMaxSeconds;
  });
}

bool same_sizes(const std::vector<BucketTime>& a, const std::vector<BucketTime>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const BucketTime& x, const BucketTime& y) { return x.bytes == y.bytes; });
}

}  // namespace

double total_s(const std::vector<BucketTime>& buckets) {
  double total = 0;
  for (const BucketTime& bucket : buckets) total += bucket.all_reduce_s;
  return total;
}

void MeasuredNetwork::set_buckets(const std::vector<BucketTime>& buckets) {
  if (!plausible(buckets)) return;
  bucket_bytes_.clear();
  for (const BucketTime& bucket : buckets) bucket_bytes_.push_back(bucket.bytes);
}

bool MeasuredNetwork::report(int generation, const std::string& worker,
                             const std::vector<BucketTime>& buckets, int gpus, int nodes) {
  if (gpus < 2 || generation < generation_ || !plausible(buckets)) return false;
  if (generation > generation_) reports_.clear();
  generation_ = generation;
  reports_[worker] = buckets;
  if (int(reports_.size()) < gpus) return false;
  shortest_ = buckets;
  for (const auto& [id, times] : reports_) {
    if (!same_sizes(times, buckets)) return false;
    for (std::size_t i = 0; i < times.size(); ++i)
      shortest_[i].all_reduce_s = std::min(shortest_[i].all_reduce_s, times[i].all_reduce_s);
  }
  set_buckets(buckets);
  times_[{nodes > 1, gpus}] = shortest_;
  return true;
}

void MeasuredNetwork::describe(Profile* profile) const {
  if (bucket_bytes_.empty()) return;
  profile->bucket_bytes = bucket_bytes_;
  for (const bool across : {false, true}) {
    CommunicationProfile network{kNominalBytesPerS, {}};
    for (const auto& [key, buckets] : times_) {
      if (key.first != across) continue;
      for (const BucketTime& bucket : buckets) {
        const double ideal_s =
            4.0 * (key.second - 1) / key.second * bucket.bytes / kNominalBytesPerS;
        network.points.emplace_back(ideal_s, bucket.all_reduce_s);
      }
    }
    if (network.points.empty()) continue;
    // Noise must not make larger all-reduces cheaper: then all cost the same.
    const Line line = fit_line(network.points);
    if (line.slope < 0) {
      double mean_s = 0;
      for (const auto& point : network.points)
        mean_s += point.second / double(network.points.size());
      for (auto& point : network.points) point.second = mean_s;
    }
    (across ? profile->inter : profile->intra) = network;
  }
}

}  // namespace jabas
