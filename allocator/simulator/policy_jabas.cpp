// `jabas`: this system. The set comes from decide(), the function that the daemon asks, at every
// epoch; the batch from the goodput rule: at the start at once, then every p steps, at most doubled
// or halved; changes below 5 % are not made. Survivors of a lost GPU keep local batch and virtual
// workers.
#include <algorithm>
#include <cmath>

#include "allocator/error.h"
#include "allocator/goodput_choice.h"
#include "allocator/simulator/policies.h"
#include "allocator/simulator/policy_tools.h"

namespace jabas::sim {
namespace {

constexpr double kMostFactor = 2;
constexpr double kBatchHysteresis = 0.05;

class JabasPolicy : public Policy {
 public:
  explicit JabasPolicy(const Setting& setting) : setting_(setting) {
    state_.epoch_samples = setting.workload.epoch_samples();
    state_.batch_policy = BatchPolicy::kGoodput;
    state_.adaptive = true;
    state_.adapt_every = setting.adapt_every;
    state_.batch = batch_rules(setting);
    state_.unit = setting.unit;
    state_.objective = setting.objective;
    state_.profile = setting.profile;
    state_.rules = setting.rules;
  }

  Plan plan(const Observation& seen) override {
    remember(seen);
    if (seen.moment == Moment::kAdjust) return adjusted(seen.plan.gpus, seen);
    if (seen.moment == Moment::kLoss) {
      const std::int64_t local_batch = seen.plan.local_batch;
      const Solution same = solve(ranked(seen.plan.gpus, setting_.profile), local_batch,
                                  seen.plan.batch / local_batch, setting_.model);
      if (same.configuration)
        return {seen.plan.gpus, seen.plan.batch, local_batch, same.configuration->step_s, false};
    }
    const GpuCounts gpus = chosen_set(seen);
    return seen.moment == Moment::kBoundary && gpus == seen.plan.gpus ? seen.plan
                                                                      : adjusted(gpus, seen);
  }
  ChangeCost change_cost() const override { return {state_.resize_pause_s, state_.startup_s}; }

 private:
  void remember(const Observation& seen) {
    const auto step = std::int64_t(std::llround(seen.steps));
    if (seen.moment != Moment::kStart) {
      state_.batch_history.emplace_back(step, double(seen.plan.batch));
      state_.noise_history.emplace_back(step, seen.noise.var / seen.noise.sqr);
    }
    state_.grad_sqr = seen.noise.sqr;
    state_.grad_var = seen.noise.var;
  }

  GpuCounts chosen_set(const Observation& seen) {
    const Workload& workload = setting_.workload;
    const int changes = changes_ - (seen.moment == Moment::kStart ? 1 : 0);
    state_.start = seen.moment == Moment::kStart;
    state_.now_s = state_.elapsed_s = seen.time_s;
    state_.spent_cost = seen.cost;
    state_.next_epoch = seen.epoch;
    state_.rest_progress = workload.work() - seen.progress;
    state_.epochs = seen.epoch + int(std::ceil(state_.rest_progress * double(workload.batch_min()) /
                                               double(workload.epoch_samples())));
    state_.wanted_batch = double(seen.plan.batch > 0 ? seen.plan.batch : workload.batch_min());
    state_.batch.current_local_batch = seen.plan.local_batch;
    state_.held = seen.plan.gpus;
    state_.epochs_since_change = seen.epochs_since_change;
    state_.epochs_per_stay = changes > 0 ? double(seen.epoch - 1) / changes : 0;
    state_.supply.clear();
    for (const auto& [type, count] : seen.available) {
      const auto held = seen.plan.gpus.find(type);
      TypeSupply supply;
      supply.max = count;
      supply.free = count - (held == seen.plan.gpus.end() ? 0 : held->second);
      supply.wait_s = seen.wait_s.at(type);
      supply.price_per_h = jabas::price_per_h({{type, 1}}, setting_.prices);
      state_.supply[type] = supply;
    }
    const Decision decision = decide(state_);
    if (decision.after.empty())
      throw InputError("no GPUs can run the workload: " + decision.reason);
    if (decision.after != seen.plan.gpus) ++changes_;
    return decision.after;
  }

  // The batch on these GPUs, not far from the present one if there is one.
  Plan adjusted(const GpuCounts& gpus, const Observation& seen) const {
    BatchRules rules = batch_rules(setting_);
    const double present = double(seen.plan.batch);
    if (present > 0) {
      rules.batch_min = std::max(rules.batch_min, std::int64_t(std::ceil(present / kMostFactor)));
      rules.batch_max = std::min(rules.batch_max, std::int64_t(present * kMostFactor));
    }
    rules.current_local_batch = seen.plan.local_batch;
    const Plan next = plan_of(
        gpus, choose_goodput(ranked(gpus, setting_.profile), rules, seen.noise, setting_.model));
    const bool small = present > 0 && std::abs(double(next.batch) / present - 1) < kBatchHysteresis;
    return gpus == seen.plan.gpus && small ? seen.plan : next;
  }

  const Setting& setting_;
  DecisionState state_;
  int changes_ = 0;  // the first set included
};

}  // namespace

std::unique_ptr<Policy> make_jabas(const Setting& setting) {
  return std::make_unique<JabasPolicy>(setting);
}

}  // namespace jabas::sim
