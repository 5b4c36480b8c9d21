#include "allocator/simulator/batch_frontier.h"

#include <algorithm>
#include <string>

#include "allocator/batch_choice.h"
#include "allocator/error.h"
#include "allocator/step_solver.h"

namespace jabas::sim {
namespace {

// What one GPU can do within a time: the most samples.
struct Share {
  double compute_s = 0;
  std::int64_t samples = 0;
  double last_s = 0;  // of the all-reduce, which no computing hides
};

// All shares of one GPU that no other beats, by time.
std::vector<Share> shares_of(const TypeModel& type, int gpus, int nodes, std::int64_t most,
                             bool accumulate) {
  std::vector<Share> shares;
  for (std::int64_t b = type.smallest_batch(); b <= std::min(type.largest_batch(), most); ++b) {
    if (type.max_streams(b) < 1) continue;
    const AllReduceTimes reduce = type.all_reduce(gpus, nodes, b);
    for (int passes = 1; b * passes <= most && (accumulate || passes == 1); ++passes)
      shares.push_back(
          {type.step_s(b, {1, passes - 1}, {reduce.hidden_s, 0}), b * passes, reduce.last_s});
  }
  std::sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) {
    return a.compute_s != b.compute_s ? a.compute_s < b.compute_s : a.samples > b.samples;
  });
  std::int64_t largest = 0;
  std::erase_if(shares, [&](const Share& share) {
    if (share.samples <= largest) return true;
    largest = share.samples;
    return false;
  });
  return shares;
}

}  // namespace

bool BatchFrontier::admits(std::int64_t batch, double step_s) const {
  const auto larger = points_.lower_bound(batch);
  return larger == points_.end() || step_s < larger->second.step_s;
}

void BatchFrontier::add(const Plan& point) {
  const auto [place, fresh] = points_.insert_or_assign(point.batch, point);
  auto smaller = place;
  while (smaller != points_.begin() && std::prev(smaller)->second.step_s >= point.step_s)
    points_.erase(std::prev(smaller));
}

void add_identical_workers(const GpuCounts& gpus, const Setting& setting, BatchFrontier* frontier) {
  StepSolver solver(ranked(gpus, setting.profile), setting.model);
  const std::int64_t batch_min = setting.workload.batch_min(),
                     batch_max = setting.workload.batch_max();
  std::string reason;
  const auto offer = [&](std::int64_t b, std::int64_t workers, double step_s) {
    const std::int64_t batch = b * workers;
    if (batch >= batch_min && frontier->admits(batch, step_s))
      frontier->add({gpus, batch, b, step_s, false});
  };
  for (const std::int64_t b : usable_batches(solver, {}, &reason)) {
    const std::int64_t last = batch_max / b;
    if (last < solver.gpus()) break;
    // If nothing of this local batch can be new, its tables are not needed.
    const StepLine line = solver.step_line(b);
    const double first_s = (double(solver.gpus()) + line.offset_workers) / line.workers_per_s;
    if (!frontier->admits(b * last, first_s)) continue;
    solver.set_local_batch(b, last);
    for (const StepSolver::Most& most : solver.most_workers()) {
      if (most.workers >= last) {
        if (frontier->admits(b * last, most.step_s)) offer(b, last, solver.solve(last).step_s);
        break;
      }
      offer(b, most.workers, most.step_s);
    }
  }
}

void add_uneven_batches(const GpuCounts& gpus, const Setting& setting, bool accumulate,
                        BatchFrontier* frontier) {
  struct Type {
    int count = 0;
    std::vector<Share> shares;
    std::size_t next = 0;  // shares before it fit into the step
  };
  const std::int64_t batch_min = setting.workload.batch_min(),
                     batch_max = setting.workload.batch_max();
  const int nodes = ranked(gpus, setting.profile).nodes;
  std::vector<Type> types;
  std::vector<double> limits;
  for (const auto& [name, count] : gpus) {
    const TypeModel* model = setting.model.find(name);
    JABAS_ASSERT(model, "the profile has the types of the cluster");
    types.push_back({count, shares_of(*model, total(gpus), nodes, batch_max, accumulate)});
    for (const Share& share : types.back().shares) limits.push_back(share.compute_s);
  }
  std::sort(limits.begin(), limits.end());
  std::int64_t least = 0;  // what the GPUs take together if each takes its smallest local batch
  for (const Type& type : types) {
    if (type.shares.empty()) return;
    least += type.count * type.shares.front().samples;
  }
  for (const double limit_s : limits) {
    std::int64_t batch = 0;
    double last_s = 0;
    bool all = true;
    for (Type& type : types) {
      while (type.next < type.shares.size() && type.shares[type.next].compute_s <= limit_s)
        ++type.next;
      all = all && type.next > 0;
      if (type.next == 0) continue;
      batch += type.count * type.shares[type.next - 1].samples;
      last_s = std::max(last_s, type.shares[type.next - 1].last_s);
    }
    if (!all || batch < batch_min) continue;
    // More than the limit: some GPU takes fewer samples, which is never slower.
    const std::int64_t allowed = std::min(batch, std::max(batch_max, least));
    const double step_s = limit_s + last_s;
    if (frontier->admits(allowed, step_s))
      frontier->add({gpus, allowed, 0, step_s, allowed > batch_max});
    if (batch >= batch_max) break;
  }
}

}  // namespace jabas::sim
