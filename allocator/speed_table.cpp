#include "allocator/speed_table.h"

#include <algorithm>
#include <limits>

#include "allocator/error.h"

namespace jabas {
namespace {

// Where a rounded profile makes a step free, so that rates stay finite.
constexpr double kLeastStep_s = 1e-15;

}  // namespace

SpeedTable::SpeedTable(const Profile& profile, const ThroughputModel& model,
                       const std::vector<std::string>& types, std::int64_t fixed_local_batch) {
  std::int64_t last = fixed_local_batch;
  first_batch_ =
      fixed_local_batch > 0 ? fixed_local_batch : std::numeric_limits<std::int64_t>::max();
  for (const std::string& name : types) {
    const TypeModel* type = model.find(name);
    JABAS_ASSERT(type != nullptr, name);
    const TypeProfile& known = profile.types.at(name);
    const bool by_batch = !known.sync_intra.empty() || !known.sync_inter.empty();
    types_.push_back({type, known.gpus_per_node, by_batch, 0, {}});
    reduce_by_batch_ = reduce_by_batch_ || by_batch;
    if (fixed_local_batch > 0) continue;
    first_batch_ = std::min(first_batch_, type->smallest_batch());
    last = std::max(last, type->largest_batch());
  }
  if (types_.empty()) return;
  batch_count_ = std::size_t(last - first_batch_ + 1);
  cells_.resize(types_.size() * batch_count_);

  std::vector<std::size_t> starts;
  for (std::size_t t = 0; t < types_.size(); ++t) {
    const TypeModel& type = *types_[t].model;
    double& most_samples_per_s = types_[t].samples_per_s;
    for (std::size_t i = 0; i < batch_count_; ++i) {
      const std::int64_t b = batch(i);
      Cell& one = cells_[t * batch_count_ + i];
      starts.push_back(streams_.size());
      const bool profiled =
          fixed_local_batch > 0 || (b >= type.smallest_batch() && b <= type.largest_batch());
      if (!profiled) continue;
      one.max_streams = type.max_streams(b);
      one.least_backward_s = std::numeric_limits<double>::infinity();
      for (int v = 1; v <= one.max_streams; ++v) {
        const PassTimes pass = type.pass(b, v);
        const double accum_s =
            std::max(pass.data_s + pass.forward_s + pass.backward_s, kLeastStep_s);
        streams_.push_back({accum_s + type.once_s(b, v), accum_s, pass.backward_s});
        one.workers_per_s = std::max(one.workers_per_s, v / accum_s);
        most_samples_per_s = std::max(most_samples_per_s, double(b * v) / accum_s);
        one.least_backward_s = std::min(one.least_backward_s, pass.backward_s);
      }
    }
  }
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    cells_[i].streams = streams_.data() + starts[i];
    cells_[i].offset_s = offset_s(cells_[i], 0);
  }
  steps_.resize(cells_.size());
}

double SpeedTable::offset_s(const Cell& cell, double hidden_s) {
  double least_s = std::numeric_limits<double>::infinity();
  for (int v = 1; v <= cell.max_streams; ++v) {
    const Streams& s = cell.streams[v - 1];
    // From w = V on this kind of step grows faster than the line, or as fast.
    least_s = std::min(least_s,
                       s.first_s + std::max(0.0, hidden_s - s.backward_s) - v / cell.workers_per_s);
  }
  return least_s;
}

const std::vector<SpeedTable::Step>& SpeedTable::steps(std::size_t type, std::size_t batch_index,
                                                       double beyond_s) const {
  const Cell& one = cell(type, batch_index);
  std::vector<Step>& steps = steps_[type * batch_count_ + batch_index];
  if (steps.empty()) steps.push_back({});
  while (steps.back().own_s <= beyond_s) {
    const std::int64_t now = steps.back().workers;
    if (now >= kMaxVirtualWorkers) {  // no run has more; another type may be 10⁹ times as slow
      steps.push_back({std::numeric_limits<double>::infinity(), now});
      break;
    }
    Step next{std::numeric_limits<double>::infinity(), now};
    for (int v = 1; v <= one.max_streams; ++v) {
      const std::int64_t passes = now / v + 1;
      const double s = one.streams[v - 1].first_s + one.streams[v - 1].accum_s * double(passes - 1);
      if (s < next.own_s || (s == next.own_s && v * passes > next.workers)) next = {s, v * passes};
    }
    steps.push_back(next);
  }
  return steps;
}

AllReduceTimes SpeedTable::all_reduce(std::size_t type, int gpus, int nodes,
                                      std::size_t batch_index) const {
  const Type& one = types_[type];
  const std::size_t at = std::size_t(3 * gpus + std::min(nodes, 3) - 1);
  if (one.reduce.size() <= at) one.reduce.resize(at + 1);
  std::vector<AllReduceTimes>& known = one.reduce[at];
  if (known.empty()) {
    known.resize(one.by_batch ? batch_count_ : 1);
    for (std::size_t i = 0; i < known.size(); ++i)
      known[i] = one.model->all_reduce(gpus, nodes, batch(i));
  }
  return known[one.by_batch ? batch_index : 0];
}

}  // namespace jabas
