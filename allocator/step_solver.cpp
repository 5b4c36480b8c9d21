#include "allocator/step_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "allocator/error.h"
#include "allocator/share_assignment.h"

namespace jabas {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Times that differ by less, relatively, are equal but for rounding.
constexpr double kRounding = 1e-12;
// By how much a bound is moved so that rounding cannot put it on the wrong side.
constexpr double kBoundMargin = 1e-9;

// Sums that need no search. Every type runs any number up to `prefix`, `most` at most, and from
// `prefix` on steps of `gap` at most. Taking GPUs from their least to their most workers one after
// another passes no gap larger than `gap`, and a few GPUs that run any number up to their prefix
// fill it.
bool is_filled(const std::vector<ShareLimits>& types, std::int64_t most, std::int64_t workers) {
  std::int64_t gap = 1;
  for (const ShareLimits& type : types) {
    const std::int64_t prefix = type.passes.front();
    if (prefix == 0) return false;
    // Multiples of the V that runs the most.
    std::int64_t streams = 1;
    for (std::int64_t v = 2; v <= std::int64_t(type.passes.size()); ++v)
      if (v * type.passes[std::size_t(v) - 1] > streams * type.passes[std::size_t(streams) - 1])
        streams = v;
    const bool once = type.passes[std::size_t(streams) - 1] == 1;
    gap = std::max(gap, once ? streams - prefix : streams);
  }
  for (const ShareLimits& type : types) {
    const std::int64_t prefix = type.passes.front();
    if (prefix < 2 && gap > 1) continue;
    const std::int64_t fillers = gap > 1 ? (gap - 1 + prefix - 2) / (prefix - 1) : 1;
    if (fillers <= type.gpus && workers <= most - fillers * (type.most_workers() - prefix))
      return true;
  }
  return false;
}

}  // namespace

std::int64_t StepSolver::StreamLine::passes_within(double limit_s, std::int64_t most) const {
  if (most < 1 || base_s > limit_s) return 0;
  const double more = accum_s > 0 ? (limit_s - base_s) / accum_s : kInfinity;
  std::int64_t passes = more < double(most) ? 1 + std::int64_t(more) : most;
  passes = std::min(passes, most);
  // The quotient may be rounded to the wrong side of a whole number.
  while (passes > 1 && step_s(passes) > limit_s) --passes;
  while (passes < most && step_s(passes + 1) <= limit_s) ++passes;
  return passes;
}

StepSolver::StepSolver(const RankedGpus& gpus, const ThroughputModel& model)
    : gpu_count_(gpus.types.size()), unit_(gpus.unit), nodes_(gpus.nodes) {
  JABAS_ASSERT(gpu_count_ > 0, "a solver needs GPUs");
  std::map<std::string, std::size_t> group_of;
  for (std::size_t rank = 0; rank < gpu_count_; ++rank) {
    const std::string& type = gpus.types[rank];
    const auto [it, added] = group_of.emplace(type, groups_.size());
    if (added) {
      groups_.push_back({model.find(type), {}});
      JABAS_ASSERT(groups_.back().model != nullptr, type);
    }
    groups_[it->second].ranks.push_back(rank);
  }
}

std::int64_t StepSolver::smallest_batch() const {
  std::int64_t batch = 1;
  for (const Group& group : groups_) batch = std::max(batch, group.model->smallest_batch());
  return batch;
}

std::int64_t StepSolver::largest_batch() const {
  std::int64_t batch = std::numeric_limits<std::int64_t>::max();
  for (const Group& group : groups_) batch = std::min(batch, group.model->largest_batch());
  return batch;
}

std::string StepSolver::misfit(std::int64_t local_batch) const {
  for (const Group& group : groups_)
    if (group.model->max_streams(local_batch) < 1)
      return "local batch " + std::to_string(local_batch) +
             " is not known to fit into the memory of every GPU";
  return "";
}

AllReduceTimes StepSolver::all_reduce(std::int64_t local_batch) const {
  AllReduceTimes times;
  for (const Group& group : groups_)
    times = slower(times, group.model->all_reduce(gpus() * unit_, nodes_, local_batch));
  return times;
}

// Below all lines of a type lies one with the least offset and the least slope of them: within L a
// GPU runs at most (L − offset) / slope workers.
const StepSolver::Table& StepSolver::table(std::int64_t local_batch) {
  const auto [found, added] = tables_.try_emplace(local_batch);
  Table& table = found->second;
  if (!added) return table;
  const AllReduceTimes reduce = all_reduce(local_batch);
  for (const Group& group : groups_) {
    std::vector<StreamLine>& lines = table.lines.emplace_back();
    double offset_s = kInfinity, slope_s = kInfinity;
    for (int v = 1; v <= group.model->max_streams(local_batch); ++v) {
      const double base_s = group.model->step_s(local_batch, {v, 0}, reduce);
      lines.push_back({base_s, group.model->step_s(local_batch, {v, 1}, reduce) - base_s});
      offset_s = std::min(offset_s, base_s - lines.back().accum_s);
      slope_s = std::min(slope_s, lines.back().accum_s / v);
    }
    // The quotients may be infinite for times that are next to nothing.
    table.below.workers_per_s += double(group.ranks.size()) / slope_s;
    if (offset_s > 0) table.below.offset_workers += double(group.ranks.size()) * offset_s / slope_s;
  }
  return table;
}

void StepSolver::set_local_batch(std::int64_t local_batch, std::int64_t max_workers) {
  JABAS_ASSERT(misfit(local_batch).empty() && max_workers >= gpus(), std::to_string(local_batch));
  local_batch_ = local_batch;
  max_workers_ = max_workers;
  table_ = &table(local_batch);
}

StepLine StepSolver::step_line(std::int64_t local_batch) { return table(local_batch).below; }

std::int64_t StepSolver::workers_bound(double limit_s) const {
  std::int64_t most = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    std::int64_t own = 0;
    for (std::size_t v = 1; v <= table_->lines[g].size(); ++v)
      own =
          std::max(own, std::int64_t(v) * table_->lines[g][v - 1].passes_within(
                                              limit_s, max_share(max_workers_) / std::int64_t(v)));
    if (own == 0) return 0;
    most += own * std::int64_t(groups_[g].ranks.size());
  }
  return most;
}

std::vector<StepSolver::Most> StepSolver::most_workers() const {
  struct Rise {  // of what one GPU of a group runs
    double step_s = 0;
    std::size_t group = 0;
    std::int64_t workers = 0;
  };
  std::vector<Rise> rises;
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (std::size_t v = 1; v <= table_->lines[g].size(); ++v)
      for (std::int64_t passes = 1; passes * std::int64_t(v) <= max_share(max_workers_); ++passes)
        rises.push_back({table_->lines[g][v - 1].step_s(passes), g, passes * std::int64_t(v)});
  std::sort(rises.begin(), rises.end(),
            [](const Rise& a, const Rise& b) { return a.step_s < b.step_s; });
  std::vector<std::int64_t> workers(groups_.size());
  std::vector<Most> most;
  std::int64_t sum = 0;
  std::size_t idle = groups_.size();
  for (const Rise& rise : rises) {
    std::int64_t& before = workers[rise.group];
    if (rise.workers <= before) continue;
    if (before == 0) --idle;
    sum += (rise.workers - before) * std::int64_t(groups_[rise.group].ranks.size());
    before = rise.workers;
    if (idle > 0) continue;
    if (!most.empty() && most.back().step_s == rise.step_s)
      most.back().workers = sum;
    else
      most.push_back({rise.step_s, sum});
  }
  return most;
}

std::vector<ShareLimits> StepSolver::limits(double limit_s, std::int64_t max_share) const {
  std::vector<ShareLimits> result(groups_.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    result[g].gpus = std::int64_t(groups_[g].ranks.size());
    const std::vector<StreamLine>& lines = table_->lines[g];
    for (std::size_t v = 1; v <= lines.size(); ++v)
      result[g].passes.push_back(lines[v - 1].passes_within(limit_s, max_share / std::int64_t(v)));
  }
  return result;
}

bool StepSolver::feasible(std::int64_t workers, double limit_s) const {
  const std::vector<ShareLimits> types = limits(limit_s, max_share(workers));
  std::int64_t most = 0, least = 0;
  for (const ShareLimits& type : types) {
    if (type.most_workers() == 0) return false;
    most += type.gpus * type.most_workers();
    least += type.gpus * type.least_workers();
  }
  if (workers > most || workers < least) return false;
  return workers == most || workers == least || is_filled(types, most, workers) ||
         is_sum(types, workers);
}

StepSolver::Times StepSolver::times_around(double limit_s, std::int64_t max_share) const {
  Times times{-kInfinity, kInfinity};
  for (const std::vector<StreamLine>& lines : table_->lines)
    for (std::size_t v = 1; v <= lines.size(); ++v) {
      const std::int64_t most = max_share / std::int64_t(v);
      const std::int64_t passes = lines[v - 1].passes_within(limit_s, most);
      if (passes > 0) times.up_to_s = std::max(times.up_to_s, lines[v - 1].step_s(passes));
      if (passes < most) times.above_s = std::min(times.above_s, lines[v - 1].step_s(passes + 1));
    }
  return times;
}

double StepSolver::least_step_s(std::int64_t workers) const {
  JABAS_ASSERT(workers >= gpus() && workers <= max_workers_, std::to_string(workers));
  const StepLine& below = table_->below;
  // Not feasible; feasible, and one of the times.
  double low_s =
      (double(workers) + below.offset_workers) / below.workers_per_s * (1 - kBoundMargin);
  double high_s = 0;
  for (const std::vector<StreamLine>& lines : table_->lines)
    high_s = std::max({high_s, lines.front().step_s(workers / gpus()),
                       lines.front().step_s((workers + gpus() - 1) / gpus())});
  while (true) {
    const double middle_s = low_s + (high_s - low_s) / 2;
    if (!(middle_s > low_s && middle_s < high_s)) return high_s;
    const Times times = times_around(middle_s, max_share(workers));
    if (feasible(workers, middle_s))
      high_s = times.up_to_s;
    else if (times.above_s >= high_s)
      return high_s;
    else
      low_s = middle_s;
  }
}

Configuration StepSolver::solve(std::int64_t workers) const {
  const double step_s = least_step_s(workers);
  const std::vector<std::vector<GpuShare>> shares =
      fewest_streams(limits(step_s * (1 + kRounding), max_share(workers)), workers);
  Configuration configuration{local_batch_, workers, std::vector<GpuShare>(gpu_count_), step_s};
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (std::size_t i = 0; i < groups_[g].ranks.size(); ++i)
      configuration.shares[groups_[g].ranks[i]] = shares[g][i];
  return configuration;
}

}  // namespace jabas
