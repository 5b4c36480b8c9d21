#include "allocator/communication_model.h"

#include <algorithm>
#include <cmath>

namespace jabas {
namespace {

// Straight lines between the measured local batches, the nearest one outside.
ExposedSync at(const std::vector<ExposedSync>& points, std::int64_t local_batch) {
  const auto above = std::lower_bound(
      points.begin(), points.end(), local_batch,
      [](const ExposedSync& point, std::int64_t batch) { return point.local_batch < batch; });
  if (above == points.begin()) return points.front();
  if (above == points.end()) return points.back();
  const ExposedSync &a = *(above - 1), &b = *above;
  const double share = double(local_batch - a.local_batch) / double(b.local_batch - a.local_batch);
  const auto line = [&](double x, double y) { return x + (y - x) * share; };
  return {local_batch, line(a.base_s, b.base_s), line(a.per_doubling_s, b.per_doubling_s),
          line(a.three_nodes_s, b.three_nodes_s)};
}

}  // namespace

Line fit_line(const std::vector<std::pair<double, double>>& points) {
  const double n = static_cast<double>(points.size());
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  for (const auto& [x, y] : points) mean_x += x / n, mean_y += y / n;
  for (const auto& [x, y] : points)
    xx += (x - mean_x) * (x - mean_x), xy += (x - mean_x) * (y - mean_y);
  if (xx <= 0) return {mean_x > 0 ? mean_y / mean_x : 0, mean_x > 0 ? 0 : mean_y};
  const double slope = xy / xx;
  return {slope, mean_y - slope * mean_x};
}

AllReduceTimes slower(const AllReduceTimes& a, const AllReduceTimes& b) {
  return {std::max(a.hidden_s, b.hidden_s), std::max(a.last_s, b.last_s)};
}

CommunicationModel::Network CommunicationModel::fit(const CommunicationProfile& profile) {
  Network network{profile.bandwidth_bytes_per_s, 1, 0};
  if (profile.points.empty()) return network;
  const Line line = fit_line(profile.points);
  // Ideal times that hardly differ say nothing.
  if (!std::isfinite(line.slope) || !std::isfinite(line.offset)) return network;
  network.slope = line.slope;
  network.offset_s = line.offset;
  return network;
}

CommunicationModel::CommunicationModel(const Profile& profile, const TypeProfile& type,
                                       bool one_gpu_pays)
    : bucket_bytes_(profile.bucket_bytes),
      sync_intra_(type.sync_intra),
      sync_inter_(type.sync_inter),
      least_gpus_(one_gpu_pays ? 1 : 2) {
  // The type's bandwidth; measured points of its own, else the profile's, which are of ideal times.
  const auto network = [](const CommunicationProfile& own, const CommunicationProfile& shared) {
    if (own.bandwidth_bytes_per_s <= 0) return fit(shared);
    return fit({own.bandwidth_bytes_per_s, own.points.empty() ? shared.points : own.points});
  };
  intra_ = network(type.intra, profile.intra);
  inter_ = network(type.inter, profile.inter);
  // One network only: the other is taken to be like it.
  if (inter_.bandwidth_bytes_per_s <= 0) inter_ = intra_;
  if (intra_.bandwidth_bytes_per_s <= 0) intra_ = inter_;
  if (sync_inter_.empty()) sync_inter_ = sync_intra_;
  if (sync_intra_.empty()) sync_intra_ = sync_inter_;
}

AllReduceTimes CommunicationModel::all_reduce(int gpus, int nodes, std::int64_t local_batch) const {
  AllReduceTimes result;
  if (gpus < least_gpus_) return result;
  if (!sync_intra_.empty()) {
    const ExposedSync sync = at(nodes > 1 ? sync_inter_ : sync_intra_, local_batch);
    const double sync_s = sync.base_s + sync.per_doubling_s * std::log2(gpus / 2.0) +
                          (nodes >= 3 ? sync.three_nodes_s : 0);
    result.last_s = std::clamp(sync_s, 0.0, kMaxSeconds);
    return result;
  }
  const Network& network = nodes > 1 ? inter_ : intra_;
  if (network.bandwidth_bytes_per_s <= 0) return result;
  for (std::size_t i = 0; i < bucket_bytes_.size(); ++i) {
    // ideal_i = 4(n−1)/n · bytes_i / bandwidth: the reference's definition, so that its
    // measurements can be used as they are.
    const double ideal_s =
        4.0 * (gpus - 1) / gpus * bucket_bytes_[i] / network.bandwidth_bytes_per_s;
    const double measured_s =
        std::clamp(network.slope * ideal_s + network.offset_s, 0.0, kMaxSeconds);
    (i + 1 < bucket_bytes_.size() ? result.hidden_s : result.last_s) += measured_s;
  }
  return result;
}

}  // namespace jabas
