#include "allocator/step_solver.h"

#include <algorithm>
#include <limits>
#include <map>

#include "allocator/error.h"

namespace jabas {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Times that differ by less, relatively, are equal but for rounding.
constexpr double kRounding = 1e-12;

// A set of numbers 0..size-1, for sums.
class NumberSet {
 public:
  explicit NumberSet(std::int64_t size) : words_(std::size_t(size + 63) / 64), size_(size) {}

  void insert(std::int64_t number) {
    words_[std::size_t(number) / 64] |= std::uint64_t{1} << (number % 64);
  }
  bool contains(std::int64_t number) const {
    return words_[std::size_t(number) / 64] >> (number % 64) & 1;
  }

  // {a + b}, without the sums that are too large to matter.
  friend NumberSet operator+(const NumberSet& a, const NumberSet& b) {
    NumberSet sums(a.size_);
    for (std::int64_t number = 0; number < a.size_; ++number)
      if (a.contains(number)) sums.add_shifted(b, number);
    return sums;
  }

 private:
  void add_shifted(const NumberSet& other, std::int64_t by) {
    const std::size_t words = std::size_t(by) / 64, bits = std::size_t(by) % 64;
    for (std::size_t i = words_.size(); i-- > words;) {
      words_[i] |= other.words_[i - words] << bits;
      if (bits > 0 && i > words) words_[i] |= other.words_[i - words - 1] >> (64 - bits);
    }
  }

  std::vector<std::uint64_t> words_;
  std::int64_t size_;
};

// Numbers of workers one GPU of a type may run within a time limit, ascending.
struct Admitted {
  std::vector<std::int64_t> workers;
  std::int64_t gpus = 0;
  std::int64_t prefix = 0;  // 1..prefix are all admitted
  std::int64_t gap = 1;     // largest step from one admitted number to the next
  std::int64_t most() const { return workers.back(); }
};

Admitted admitted(const std::vector<double>& best_s, std::int64_t max_share, double limit_s,
                  std::size_t gpus) {
  Admitted result;
  result.gpus = std::int64_t(gpus);
  for (std::int64_t w = 1; w <= max_share; ++w) {
    if (best_s[std::size_t(w) - 1] > limit_s) continue;
    if (w == result.prefix + 1) result.prefix = w;
    if (!result.workers.empty()) result.gap = std::max(result.gap, w - result.workers.back());
    result.workers.push_back(w);
  }
  return result;
}

bool is_sum(const std::vector<Admitted>& groups, std::int64_t workers) {
  NumberSet sums(workers + 1);
  sums.insert(0);
  for (const Admitted& group : groups) {
    NumberSet power(workers + 1);
    for (const std::int64_t w : group.workers) power.insert(w);
    for (std::int64_t left = group.gpus; left > 0; left /= 2) {
      if (left % 2 == 1) sums = sums + power;
      if (left > 1) power = power + power;
    }
  }
  return sums.contains(workers);
}

// Total streams, then total accumulation steps, as one number to compare.
std::int64_t tie_cost(const GpuShare& share) {
  return (std::int64_t{share.streams} << 32) + share.accum_steps;
}

}  // namespace

StepSolver::StepSolver(const RankedGpus& gpus, const ThroughputModel& model)
    : gpu_count_(gpus.types.size()),
      all_gpus_(int(gpus.types.size()) * gpus.unit),
      nodes_(gpus.nodes) {
  JABAS_ASSERT(gpu_count_ > 0, "a solver needs GPUs");
  std::map<std::string, std::size_t> group_of;
  for (std::size_t rank = 0; rank < gpu_count_; ++rank) {
    const std::string& type = gpus.types[rank];
    if (const auto [it, added] = group_of.emplace(type, groups_.size()); added) {
      groups_.push_back({model.find(type), {}, {}});
      JABAS_ASSERT(groups_.back().model != nullptr, type);
    }
    groups_[group_of[type]].ranks.push_back(rank);
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
    times = slower(times, group.model->all_reduce(all_gpus_, nodes_, local_batch));
  return times;
}

void StepSolver::set_local_batch(std::int64_t local_batch, std::int64_t max_workers) {
  JABAS_ASSERT(misfit(local_batch).empty() && max_workers >= gpus(), std::to_string(local_batch));
  local_batch_ = local_batch;
  all_reduce_ = all_reduce(local_batch);
  const std::int64_t max_share = max_workers - gpus() + 1;
  for (Group& group : groups_) {
    group.best_s.assign(std::size_t(max_share), kInfinity);
    const std::int64_t streams =
        std::min<std::int64_t>(group.model->max_streams(local_batch), max_share);
    for (int v = 1; v <= streams; ++v) {
      // The step time is a straight line in the accumulation steps.
      const double base_s = group.model->step_s(local_batch_, {v, 0}, all_reduce_),
                   accum_s = group.model->step_s(local_batch_, {v, 1}, all_reduce_) - base_s;
      for (std::int64_t w = v; w <= max_share; w += v) {
        double& best_s = group.best_s[std::size_t(w) - 1];
        best_s = std::min(best_s, base_s + accum_s * double(w / v - 1));
      }
    }
  }
}

double StepSolver::workers_per_s_bound(std::int64_t local_batch, std::int64_t max_share) const {
  double sum = 0;
  const AllReduceTimes reduce = all_reduce(local_batch);
  for (const Group& group : groups_) {
    double most = 0;
    const std::int64_t streams =
        std::min<std::int64_t>(group.model->max_streams(local_batch), max_share);
    for (int v = 1; v <= streams; ++v) {
      // For given streams the time is a straight line in the workers, so the rate is highest at one
      // of its ends.
      const int accum_steps = int(max_share / v) - 1;
      most = std::max({most, v / group.model->step_s(local_batch, {v, 0}, reduce),
                       double(v) * (accum_steps + 1) /
                           group.model->step_s(local_batch, {v, accum_steps}, reduce)});
    }
    sum += most * double(group.ranks.size());
  }
  return sum;
}

// t(w) ≥ least + slope·w for each GPU, so within L it runs at most (L − least)/slope workers.
StepLine StepSolver::step_line(std::int64_t local_batch) const {
  StepLine line;
  const AllReduceTimes reduce = all_reduce(local_batch);
  for (const Group& group : groups_) {
    double least_s = kInfinity, slope_s = kInfinity;
    for (int v = 1; v <= group.model->max_streams(local_batch); ++v) {
      const double base_s = group.model->step_s(local_batch, {v, 0}, reduce),
                   accum_s = group.model->step_s(local_batch, {v, 1}, reduce) - base_s;
      least_s = std::min(least_s, base_s - accum_s);
      slope_s = std::min(slope_s, accum_s / v);
    }
    line.workers_per_s += double(group.ranks.size()) / slope_s;
    line.offset_workers += double(group.ranks.size()) * least_s / slope_s;
  }
  return line;
}

std::vector<StepSolver::Most> StepSolver::most_workers() const {
  struct Rise {  // of what one GPU of a group runs
    double step_s = 0;
    std::size_t group = 0;
    std::int64_t workers = 0;
  };
  std::vector<Rise> rises;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    double least_s = kInfinity;
    for (std::size_t w = groups_[g].best_s.size(); w > 0; --w)
      if (groups_[g].best_s[w - 1] < least_s) {
        least_s = groups_[g].best_s[w - 1];
        rises.push_back({least_s, g, std::int64_t(w)});
      }
  }
  std::sort(rises.begin(), rises.end(),
            [](const Rise& a, const Rise& b) { return a.step_s < b.step_s; });
  std::vector<std::int64_t> workers(groups_.size());
  std::vector<Most> most;
  std::int64_t sum = 0;
  std::size_t idle = groups_.size();
  for (const Rise& rise : rises) {
    if (workers[rise.group] == 0) --idle;
    sum += (rise.workers - workers[rise.group]) * std::int64_t(groups_[rise.group].ranks.size());
    workers[rise.group] = rise.workers;
    if (idle > 0) continue;
    if (!most.empty() && most.back().step_s == rise.step_s)
      most.back().workers = sum;
    else
      most.push_back({rise.step_s, sum});
  }
  return most;
}

bool StepSolver::feasible(std::int64_t workers, double limit_s) const {
  const std::int64_t max_share = workers - gpus() + 1;
  std::vector<Admitted> sets;
  std::int64_t most = 0, gap = 1;
  for (const Group& group : groups_) {
    sets.push_back(admitted(group.best_s, max_share, limit_s, group.ranks.size()));
    // One worker is never slower than more, so without it there is nothing.
    if (sets.back().prefix == 0) return false;
    most += sets.back().most() * sets.back().gpus;
    gap = std::max(gap, sets.back().gap);
  }
  if (most < workers) return false;
  // One GPU that can run any number up to `prefix` closes the gaps that all others leave, if it is
  // wide enough.
  for (const Admitted& filler : sets)
    if (filler.prefix >= gap && workers <= most - (filler.most() - filler.prefix)) return true;
  return is_sum(sets, workers);
}

Configuration StepSolver::solve(std::int64_t workers) const {
  const std::int64_t max_share = workers - gpus() + 1;
  JABAS_ASSERT(max_share >= 1 && std::size_t(max_share) <= groups_.front().best_s.size(),
               std::to_string(workers));
  // The even split can be done; the bound cannot be beaten. The optimum is one of the times
  // between.
  const std::int64_t few = workers / gpus(), many = (workers + gpus() - 1) / gpus();
  double even_s = 0;
  for (const Group& group : groups_)
    even_s =
        std::max({even_s, group.best_s[std::size_t(few) - 1], group.best_s[std::size_t(many) - 1]});
  const double bound_s =
      double(workers) / workers_per_s_bound(local_batch_, max_share) * (1 - 1e-9);
  std::vector<double> times;
  for (const Group& group : groups_)
    for (std::int64_t w = 1; w <= max_share; ++w)
      if (const double s = group.best_s[std::size_t(w) - 1]; s >= bound_s && s <= even_s)
        times.push_back(s);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  const auto least = std::partition_point(
      times.begin(), times.end(), [&](double limit_s) { return !feasible(workers, limit_s); });
  JABAS_ASSERT(least != times.end(), "the even split is feasible");
  return {local_batch_, workers, assign(workers, *least * (1 + kRounding)), *least};
}

// For each number of workers the share with the fewest streams that keeps the limit; streams 0 =
// none does.
std::vector<GpuShare> StepSolver::cheapest_shares(const Group& group, std::int64_t max_share,
                                                  double limit_s) const {
  std::vector<GpuShare> shares(std::size_t(max_share), GpuShare{0, 0});
  for (int v = int(std::min<std::int64_t>(group.model->max_streams(local_batch_), max_share));
       v >= 1; --v) {
    const double base_s = group.model->step_s(local_batch_, {v, 0}, all_reduce_),
                 accum_s = group.model->step_s(local_batch_, {v, 1}, all_reduce_) - base_s;
    for (std::int64_t w = v; w <= max_share && base_s + accum_s * double(w / v - 1) <= limit_s;
         w += v)
      shares[std::size_t(w) - 1] = {v, int(w / v - 1)};
  }
  return shares;
}

// The shares by rank with the fewest streams, then the fewest accumulation steps, then more workers
// on earlier ranks: dynamic programming over ranks from the last, least[i][s] = least cost of ranks
// i.. running s workers. Only sums that the ranks before and after can complete are looked at; near
// the optimum these are few.
std::vector<GpuShare> StepSolver::assign(std::int64_t workers, double limit_s) const {
  std::vector<std::vector<GpuShare>> choices;  // by group
  std::vector<std::size_t> group_of(gpu_count_);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    choices.push_back(cheapest_shares(groups_[g], workers - gpus() + 1, limit_s));
    while (choices.back().back().streams == 0) choices.back().pop_back();
    for (const std::size_t rank : groups_[g].ranks) group_of[rank] = g;
  }
  const auto most = [&](std::size_t rank) { return std::int64_t(choices[group_of[rank]].size()); };

  std::vector<std::int64_t> low(gpu_count_ + 1),
      high(gpu_count_ + 1);  // sums of ranks i.. worth looking at
  for (std::size_t i = gpu_count_; i-- > 0;) high[i] = high[i + 1] + most(i);
  std::int64_t before = 0;
  for (std::size_t i = 0; i <= gpu_count_; ++i) {
    low[i] = std::max(workers - before, std::int64_t(gpu_count_ - i));
    high[i] = std::min(high[i], workers - std::int64_t(i));
    if (i < gpu_count_) before += most(i);
  }
  low[gpu_count_] = high[gpu_count_] = 0;

  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  struct Cell {
    std::int64_t cost = kNone, share = 0;
  };
  std::vector<std::vector<Cell>> least(gpu_count_ + 1);
  least[gpu_count_] = {{0, 0}};
  for (std::size_t i = gpu_count_; i-- > 0;) {
    least[i].resize(std::size_t(std::max<std::int64_t>(high[i] - low[i] + 1, 0)));
    for (std::int64_t sum = low[i]; sum <= high[i]; ++sum) {
      Cell& cell = least[i][std::size_t(sum - low[i])];
      const std::int64_t last = std::min(most(i), sum - low[i + 1]);
      for (std::int64_t w = last; w >= std::max<std::int64_t>(1, sum - high[i + 1]); --w) {
        const GpuShare& share = choices[group_of[i]][std::size_t(w) - 1];
        const Cell& rest = least[i + 1][std::size_t(sum - w - low[i + 1])];
        if (share.streams == 0 || rest.cost == kNone) continue;
        if (rest.cost + tie_cost(share) < cell.cost) cell = {rest.cost + tie_cost(share), w};
      }
    }
  }

  std::vector<GpuShare> shares;
  std::int64_t left = workers;
  for (std::size_t i = 0; i < gpu_count_; ++i) {
    const Cell& cell = least[i][std::size_t(left - low[i])];
    JABAS_ASSERT(cell.cost != kNone, "a feasible number of workers has an assignment");
    shares.push_back(choices[group_of[i]][std::size_t(cell.share) - 1]);
    left -= cell.share;
  }
  return shares;
}

}  // namespace jabas
