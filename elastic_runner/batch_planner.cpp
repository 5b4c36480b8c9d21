#include "elastic_runner/batch_planner.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "allocator/error.h"
#include "allocator/goodput_choice.h"
#include "elastic_runner/split_table.h"

namespace jabas {
namespace {

RankedGpus ranked_members(const std::vector<PlanMember>& members) {
  RankedGpus gpus;
  std::set<std::string> hosts;
  for (const auto& member : members) {
    gpus.types.push_back(member.gpu_type);
    hosts.insert(member.host);
  }
  gpus.nodes = int(hosts.size());
  return gpus;
}

// The split that --vsw/--accum fix, if they list this number of workers (after a lost worker they
// do not).
std::optional<Configuration> from_table(const PlanInput& input, std::int64_t local_batch,
                                        std::int64_t workers) {
  if (input.spec.vsw.empty() && input.spec.accum.empty()) return std::nullopt;
  Configuration configuration;
  configuration.local_batch = local_batch;
  configuration.virtual_workers = workers;
  try {
    configuration.shares = table_shares(input.spec, input.epoch, int(input.members.size()));
  } catch (const UsageError&) {
    return std::nullopt;
  }
  if (virtual_workers_of(configuration.shares) != workers) return std::nullopt;
  return configuration;
}

PlanResult fixed(const PlanInput& input, const RunState& state, std::int64_t local_batch,
                 std::int64_t workers) {
  BatchPlan plan;
  plan.adaptive = state.adaptive;
  const auto ranks = std::ssize(input.members);
  if (workers < ranks) {
    return {std::nullopt, std::to_string(workers) + " virtual workers cannot be spread over " +
                              std::to_string(ranks) + " workers: each needs at least one"};
  }
  if (auto table = from_table(input, local_batch, workers)) {
    plan.configuration = *table;
    plan.reason = "split as --vsw and --accum say";
  } else if (input.profile != nullptr) {
    Solution solution = solve(ranked_members(input.members), local_batch, workers, *input.profile);
    if (!solution.configuration) return {std::nullopt, solution.reason};
    plan.configuration = *solution.configuration;
    plan.reason = "fastest split of the same batch";
  } else {
    plan.configuration = even_split(int(ranks), local_batch, workers);
    plan.reason = "even split of the same batch";
  }
  return {plan, ""};
}

BatchRules rules_of(const PlanInput& input, const RunState& state) {
  BatchRules rules;
  rules.batch_min = input.spec.batch_min;
  rules.batch_max = input.spec.batch_max;
  rules.fixed_local_batch = input.spec.local_batch_fixed ? input.spec.local_batch : 0;
  rules.current_local_batch = state.local_batch > 0 ? state.local_batch : input.spec.local_batch;
  rules.needs_two_workers = input.spec.adaptive;
  return rules;
}

PlanResult free_batch(const PlanInput& input, const RunState& state) {
  BatchChoice choice = choose_batch(state.adaptive.wanted_batch, ranked_members(input.members),
                                    rules_of(input, state), input.profile);
  if (!choice.configuration) return {std::nullopt, choice.reason};
  BatchPlan plan;
  plan.configuration = *choice.configuration;
  plan.adaptive = state.adaptive;
  plan.reason = choice.clamped ? choice.reason : "nearest fast batch";
  return {plan, ""};
}

// (b, N) of a run that has not trained yet and whose batch does not adapt.
std::pair<std::int64_t, std::int64_t> first_batch(const PlanInput& input) {
  const TrainingSpec& spec = input.spec;
  if (spec.virtual_workers > 0) return {spec.local_batch, spec.virtual_workers};
  const auto ranks = std::int64_t(input.members.size());
  const std::int64_t batch = std::max(spec.batch_initial, spec.batch_min);
  return {spec.local_batch,
          std::max(ranks, std::int64_t(std::llround(double(batch) / double(spec.local_batch))))};
}

}  // namespace

PlanResult plan_for_generation(const PlanInput& input, const RunState& state, bool keep) {
  const TrainingSpec& spec = input.spec;
  const bool fresh = state.virtual_workers == 0;
  if (!spec.adaptive) {
    const auto [local_batch, workers] =
        fresh ? first_batch(input) : std::pair{state.local_batch, state.virtual_workers};
    return fixed(input, state, local_batch, workers);
  }
  if (keep && !fresh) {
    PlanResult same = fixed(input, state, state.local_batch, state.virtual_workers);
    if (same.plan) return same;
  }
  RunState wanted = state;
  if (fresh) wanted.adaptive.wanted_batch = double(std::max(spec.batch_initial, spec.batch_min));
  return free_batch(input, wanted);
}

PlanResult plan_for_batch(const PlanInput& input, const RunState& state) {
  return free_batch(input, state);
}

GoodputBatch goodput_batch(const PlanInput& input, const RunState& state) {
  if (input.profile == nullptr) return {0, "no profile of the GPUs in use"};
  const GradientNoise noise{state.adaptive.sqr(), state.adaptive.variance(input.spec.batch_min),
                            double(input.spec.batch_min)};
  const BatchChoice choice = choose_goodput(ranked_members(input.members), rules_of(input, state),
                                            noise, ThroughputModel(*input.profile));
  if (!choice.configuration) return {0, choice.reason};
  return {double(choice.configuration->local_batch * choice.configuration->virtual_workers), ""};
}

const Profile* usable_profile(const std::optional<Profile>& profile,
                              const std::vector<PlanMember>& members) {
  if (!profile) return nullptr;
  for (const auto& member : members) {
    if (!profile->types.contains(member.gpu_type)) return nullptr;
  }
  return &*profile;
}

}  // namespace jabas
