#include "spank_plugin/jabasd/decision_state.h"

#include <algorithm>
#include <numeric>

#include "allocator/error.h"
#include "spank_plugin/jabasd/gpu_supply.h"

namespace jabas {
namespace {

BatchPolicy batch_policy_of(const TrainingSpec& spec) {
  for (const BatchPolicy policy : {BatchPolicy::kSimilarity, BatchPolicy::kGoodput})
    if (spec.batch_policy == to_text(policy)) return policy;
  return BatchPolicy::kPaper;
}

}  // namespace

std::vector<std::string> usable_types(const Run& run) {
  std::vector<std::string> types;
  for (const GpuLimit& limit : run.limits) types.push_back(limit.type);
  return types;
}

std::string missing_price(const std::vector<std::string>& types, const PriceList& prices) {
  for (const std::string& type : types) {
    if (!prices.usd_per_gpu_h.count(type)) return type;
  }
  return "";
}

GpuCounts free_supply(const Run& run, const std::vector<NodeRow>& nodes, const MemberJobs& jobs,
                      int unit, double now_s) {
  GpuCounts free;
  for (const std::string& type : usable_types(run)) {
    const bool blocked = jobs.pends_for_resources(type) || jobs.backing_off(type, now_s);
    free[type] = blocked ? 0 : free_gpus(nodes, type, unit);
  }
  return free;
}

DecisionState decision_state(const Run& run, const MemberJobs& jobs, const DecisionInputs& inputs,
                             const Profile& profile, const DecisionContext& context) {
  JABAS_ASSERT(inputs.problem().empty(), inputs.problem());
  const TrainingSpec& spec = run.spec;
  DecisionState state;
  state.now_s = context.now_s;
  state.start = context.start;
  state.next_epoch = context.next_epoch;
  state.epochs = spec.epochs;
  state.epoch_samples = spec.train_samples;
  state.wanted_batch = run.wanted_batch;
  // The rest begins at the boundary: until then the run goes on with what it has.
  state.elapsed_s = std::max(0.0, context.boundary_s - run.started_s);
  state.spent_cost = run.cost.total_usd(context.boundary_s);
  state.batch_policy = batch_policy_of(spec);
  state.batch_history = run.batch_history;
  state.noise_history = run.noise_history;
  state.adapt_every = spec.adapt_every;
  state.adaptive = spec.adaptive;
  state.grad_sqr = run.grad_sqr;
  state.grad_var = run.grad_var;
  state.batch.batch_min = spec.batch_min;
  state.batch.batch_max = spec.batch_max;
  state.batch.fixed_local_batch = spec.local_batch_fixed ? spec.local_batch : 0;
  state.batch.current_local_batch = run.local_batch > 0 ? run.local_batch : spec.local_batch;
  state.batch.needs_two_workers = spec.adaptive;

  state.held = jobs.outstanding();
  for (const auto& [type, gpus] : run.base) state.held[type] += gpus;
  const GpuCounts free = free_supply(run, *inputs.nodes.value, jobs, context.unit, context.now_s);
  for (const GpuLimit& limit : run.limits) {
    TypeSupply& supply = state.supply[limit.type];
    supply.min = limit.min;
    supply.max = limit.max;
    if (const auto base = run.base.find(limit.type); base != run.base.end())
      supply.base = base->second;
    supply.free = free.at(limit.type);
    const auto& prices = inputs.prices.prices.usd_per_gpu_h;
    if (const auto price = prices.find(limit.type); price != prices.end())
      supply.price_per_h = price->second;
  }
  state.unit = context.unit;
  state.objective = parse_objective(context.objective);
  if (run.last_change_epoch > 0)
    state.epochs_since_change = state.next_epoch - run.last_change_epoch;
  if (!run.stays.empty()) {
    state.epochs_per_stay =
        double(std::accumulate(run.stays.begin(), run.stays.end(), 0)) / double(run.stays.size());
  }
  state.resize_pause_s = run.pause_s;
  state.startup_s = context.startup_s;
  state.evaluation_s = run.evaluation_s;
  state.profile = profile;
  return state;
}

}  // namespace jabas
