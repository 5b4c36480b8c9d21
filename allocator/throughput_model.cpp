#include "allocator/throughput_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "allocator/error.h"
#include "allocator/reference_times.h"

namespace jabas {
namespace {

// The points of one local batch, first the one with a single stream (profiles are validated for
// that).
using BatchPoints = std::vector<ComputePoint>;

double pass_s(const ComputePoint& point) { return point.forward_s + point.backward_s; }

// n(V), the throughput of V streams against one stream's, where V was not measured. Streams that
// were measured to bring nothing, or only a single one, are taken to bring nothing more.
double normalized_throughput(const BatchPoints& points, int streams) {
  std::vector<std::pair<double, double>> measured;
  for (const ComputePoint& p : points)
    measured.emplace_back(std::log(p.streams), p.streams * pass_s(points.front()) / pass_s(p));
  const double last = measured.back().second;
  if (measured.size() < 2) return last;
  const Line line = fit_line(measured);
  if (line.slope <= 0) return last;
  const double fitted = line.slope * std::log(streams) + line.offset;
  const auto [least, most] =
      std::minmax_element(measured.begin(), measured.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
  // Between measurements the fit must not leave their range.
  return streams > points.back().streams ? std::max(fitted, least->second)
                                         : std::clamp(fitted, least->second, most->second);
}

PassTimes pass_of(const BatchPoints& points, int streams) {
  for (const ComputePoint& p : points)
    if (p.streams == streams) return {p.data_s, p.forward_s, p.backward_s};
  const double both_s = streams * pass_s(points.front()) / normalized_throughput(points, streams);
  const double forward_share =
      points.back().forward_s / pass_s(points.back());  // f, at the largest measured V
  return {streams * points.front().data_s, both_s * forward_share, both_s * (1 - forward_share)};
}

void raise_to(PassTimes* times, const PassTimes& floor) {
  times->data_s = std::max(times->data_s, floor.data_s);
  times->forward_s = std::max(times->forward_s, floor.forward_s);
  times->backward_s = std::max(times->backward_s, floor.backward_s);
}

PassTimes mix(const PassTimes& a, const PassTimes& b, double share_of_b) {
  const auto line = [&](double x, double y) { return x + (y - x) * share_of_b; };
  return {line(a.data_s, b.data_s), line(a.forward_s, b.forward_s),
          line(a.backward_s, b.backward_s)};
}

PassTimes times(const PassTimes& pass, double factor) {
  return {pass.data_s * factor, pass.forward_s * factor, pass.backward_s * factor};
}

}  // namespace

TypeModel::TypeModel(const TypeProfile& type, const Profile& profile, const ModelRules& rules)
    : TypeModel(type) {
  communication_ = CommunicationModel(profile, type, rules.reference);
  if (!rules.reference) return;
  const double all_bytes =
      std::accumulate(profile.bucket_bytes.begin(), profile.bucket_bytes.end(), 0.0);
  const double exposed_update =
      rules.sequential || all_bytes <= 0 ? 1 : profile.bucket_bytes.back() / all_bytes;
  profiled_only_ = true;
  passes_.clear();
  for (const std::int64_t batch : batches_) {
    const ReferenceTimes times = reference_times(type, batch, max_streams_[batch], exposed_update);
    passes_.push_back(times.passes);
    once_.push_back(times.once_s);
    max_streams_[batch] = int(times.passes.size());
  }
}

TypeModel::TypeModel(const TypeProfile& type) : max_streams_(type.max_streams) {
  JABAS_ASSERT(!type.points.empty(), "a GPU type of a profile has points");
  std::map<std::int64_t, BatchPoints> by_batch;
  int most_streams = 1;
  for (const ComputePoint& point : type.points) {
    by_batch[point.local_batch].push_back(point);
    most_streams = std::max(most_streams, point.streams);
    update_s_ += point.update_s / static_cast<double>(type.points.size());
  }
  for (const auto& [batch, streams] : max_streams_) most_streams = std::max(most_streams, streams);
  for (const auto& [batch, points] : by_batch) {
    // What was measured fits; a stated limit counts before it.
    max_streams_.emplace(batch, points.back().streams);
    batches_.push_back(batch);
    passes_.emplace_back();
    for (int streams = 1; streams <= most_streams; ++streams) {
      PassTimes pass = pass_of(points, streams);
      if (streams > 1) raise_to(&pass, passes_.back().back());
      if (passes_.size() > 1)
        raise_to(&pass, passes_[passes_.size() - 2][std::size_t(streams) - 1]);
      passes_.back().push_back(pass);
    }
  }
}

int TypeModel::max_streams(std::int64_t local_batch) const {
  if (profiled_only_ && !std::binary_search(batches_.begin(), batches_.end(), local_batch))
    return 0;
  const auto limit = max_streams_.lower_bound(local_batch);
  return limit == max_streams_.end() ? 0 : limit->second;
}

PassTimes TypeModel::at(std::size_t batch_index, int streams) const {
  const std::vector<PassTimes>& known = passes_[batch_index];
  if (std::size_t(streams) <= known.size()) return known[std::size_t(streams) - 1];
  // More streams than memory was ever said to hold: they bring no throughput.
  return times(known.back(), double(streams) / double(known.size()));
}

// Of the smallest profiled local batch that is not smaller; the number of them if there is none.
std::size_t TypeModel::index_of(std::int64_t local_batch) const {
  const auto found = std::lower_bound(batches_.begin(), batches_.end(), local_batch);
  return std::size_t(found - batches_.begin());
}

PassTimes TypeModel::pass(std::int64_t local_batch, int streams) const {
  const std::size_t index = index_of(local_batch);
  if (index == batches_.size())
    return times(at(index - 1, streams), double(local_batch) / double(batches_.back()));
  if (batches_[index] == local_batch) return at(index, streams);
  if (index == 0) return times(at(0, streams), double(local_batch) / double(batches_.front()));
  const std::int64_t below = batches_[index - 1];
  return mix(at(index - 1, streams), at(index, streams),
             double(local_batch - below) / double(batches_[index] - below));
}

double TypeModel::step_s(std::int64_t local_batch, const GpuShare& share,
                         const AllReduceTimes& all_reduce) const {
  const PassTimes p = pass(local_batch, share.streams);
  return p.data_s + (p.data_s + p.forward_s + p.backward_s) * share.accum_steps + p.forward_s +
         std::max(p.backward_s, all_reduce.hidden_s) + all_reduce.last_s +
         once_s(local_batch, share.streams);
}

double TypeModel::once_s(std::int64_t local_batch, int streams) const {
  return once_.empty() ? update_s_ : once_[index_of(local_batch)][std::size_t(streams) - 1];
}

ThroughputModel::ThroughputModel(const Profile& profile, const ModelRules& rules) {
  for (const auto& [name, type] : profile.types)
    types_.emplace(name, TypeModel(type, profile, rules));
}

const TypeModel* ThroughputModel::find(const std::string& type) const {
  const auto found = types_.find(type);
  return found == types_.end() ? nullptr : &found->second;
}

}  // namespace jabas
