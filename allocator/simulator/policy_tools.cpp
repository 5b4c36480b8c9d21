#include "allocator/simulator/policy_tools.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "allocator/batch_choice.h"
#include "allocator/error.h"
#include "allocator/step_solver.h"

namespace jabas::sim {
namespace {

constexpr std::size_t kMostSets = 1'000'000;

std::vector<int> counts_up_to(int most) {
  std::vector<int> counts;
  for (int count = 1; count <= most; count += count == 1 ? 1 : 2) counts.push_back(count);
  return counts;
}

AllReduceTimes slowest_all_reduce(const RankedGpus& gpus, std::int64_t local_batch,
                                  const ThroughputModel& model) {
  AllReduceTimes result;
  for (const std::string& type : gpus.types)
    result = slower(result,
                    model.find(type)->all_reduce(int(gpus.types.size()), gpus.nodes, local_batch));
  return result;
}

// Of equal passes on every GPU.
double step_s(const RankedGpus& gpus, std::int64_t local_batch, int passes,
              const ThroughputModel& model) {
  const AllReduceTimes reduce = slowest_all_reduce(gpus, local_batch, model);
  double slowest_s = 0;
  for (const std::string& type : gpus.types)
    slowest_s = std::max(slowest_s, model.find(type)->step_s(local_batch, {1, passes - 1}, reduce));
  return slowest_s;
}

}  // namespace

BatchRules batch_rules(const Setting& setting) {
  return {setting.workload.batch_min(), setting.workload.batch_max()};
}

Plan plan_of(const GpuCounts& gpus, const BatchChoice& choice) {
  if (!choice.configuration)
    throw InputError(to_text(gpus) + " cannot run the workload: " + choice.reason);
  const Configuration& found = *choice.configuration;
  return {gpus, found.local_batch * found.virtual_workers, found.local_batch, found.step_s,
          choice.clamped};
}

Plan equal_split(double wanted_batch, const GpuCounts& gpus, const Setting& setting) {
  const RankedGpus ranks = ranked(gpus, setting.profile);
  const StepSolver solver(ranks, setting.model);
  std::string reason;
  const std::vector<std::int64_t> batches = usable_batches(solver, {}, &reason);
  if (batches.empty()) throw InputError(to_text(gpus) + " cannot run the workload: " + reason);
  const double each = wanted_batch / double(solver.gpus());
  const double tolerance = std::log1p(kBatchTolerance);
  const int most_passes = std::max(1, int(std::ceil(each / double(batches.front()))));

  std::optional<Plan> best;
  double best_away = 0;
  for (int passes = 1; passes <= most_passes; ++passes) {
    const auto above = std::lower_bound(batches.begin(), batches.end(), each / passes);
    for (const auto b : {above == batches.begin() ? above : above - 1,
                         above == batches.end() ? above - 1 : above}) {
      const std::int64_t batch = *b * passes * solver.gpus();
      if (best && batch > setting.workload.batch_max()) continue;
      const double away = std::max(tolerance, std::abs(std::log(double(batch) / wanted_batch)));
      if (best && away > best_away) continue;
      const double time_s = step_s(ranks, *b, passes, setting.model);
      const bool faster = best && double(batch) / time_s > double(best->batch) / best->step_s;
      if (best && away == best_away && !faster) continue;
      best = Plan{gpus, batch, *b, time_s, away > tolerance};
      best_away = away;
    }
  }
  return *best;
}

const Plan* fastest_progress(const BatchFrontier& frontier,
                             const std::function<double(double)>& gain) {
  const Plan* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [batch, plan] : frontier.points()) {
    const double s_per_progress = plan.step_s / gain(double(batch));
    if (s_per_progress < least) {
      least = s_per_progress;
      best = &plan;
    }
  }
  return best;
}

std::vector<GpuCounts> counted_sets(const GpuCounts& available) {
  std::vector<GpuCounts> sets{{}};
  for (const auto& [type, most] : available) {
    const std::vector<int> counts = counts_up_to(most);
    if (sets.size() * (counts.size() + 1) > kMostSets)
      throw UsageError("the cluster " + to_list(available) + " has more than " +
                       std::to_string(kMostSets) +
                       " sets of GPUs: too many for a policy that looks at all of them");
    std::vector<GpuCounts> longer = sets;
    for (const GpuCounts& set : sets)
      for (const int count : counts) {
        longer.push_back(set);
        longer.back()[type] = count;
      }
    sets = std::move(longer);
  }
  std::erase(sets, GpuCounts{});
  return sets;
}

std::vector<GpuCounts> one_type_sets(const GpuCounts& available) {
  std::vector<GpuCounts> sets;
  for (const auto& [type, most] : available)
    for (const int count : counts_up_to(most)) sets.push_back({{type, count}});
  return sets;
}

double expected_similarity(double batch, const GradientNoise& noise) {
  return noise.sqr / (noise.sqr + 2 * noise.var * noise.base_batch / batch);
}

double batch_of_similarity(double target, const GradientNoise& noise) {
  return 2 * noise.var * noise.base_batch * target / (noise.sqr * (1 - target));
}

}  // namespace jabas::sim
