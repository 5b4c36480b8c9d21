// `paper` (JABAS, EuroSys 2025): the batch follows the cosine by ±10 % every p steps; at every
// epoch the set of GPU pairs with the least predicted time of the next epoch. Virtual workers have
// a profiled local batch, and the GPUs of a pair share their configuration.
#include <algorithm>

#include "allocator/batch_choice.h"
#include "allocator/error.h"
#include "allocator/simulator/policies.h"
#include "allocator/simulator/policy_tools.h"

namespace jabas::sim {
namespace {

constexpr int kPair = 2;

class PaperPolicy : public Policy {
 public:
  explicit PaperPolicy(const Setting& setting)
      : setting_(setting),
        model_(setting.profile, ModelRules{true, false}),
        wanted_(double(setting.workload.batch_min())) {}

  Plan plan(const Observation& seen) override {
    if (seen.moment != Moment::kAdjust) return best_set(seen.available);
    wanted_ *= expected_similarity(double(seen.plan.batch), seen.noise) < setting_.similarity_target
                   ? 1.1
                   : 0.9;
    wanted_ = clipped(wanted_, batch_rules(setting_));
    // Where its own batch is out of reach it goes on from the one that it really has.
    wanted_ = std::max(wanted_, double(plan_of(seen.plan.gpus, choose(seen.plan.gpus, 1)).batch));
    return plan_of(seen.plan.gpus, choose(seen.plan.gpus, wanted_));
  }
  ChangeCost change_cost() const override { return kRestart; }

 private:
  BatchChoice choose(const GpuCounts& gpus, double wanted) const {
    RankedGpus pairs;
    pairs.unit = kPair;
    pairs.nodes = ranked(gpus, setting_.profile).nodes;
    for (const auto& [type, count] : gpus)
      pairs.types.insert(pairs.types.end(), std::size_t(count / kPair), type);
    return choose_batch_on(wanted, pairs, batch_rules(setting_), model_);
  }

  Plan best_set(const GpuCounts& available) const {
    Plan best;
    for (const GpuCounts& set : counted_sets(available)) {
      if (std::any_of(set.begin(), set.end(),
                      [](const auto& entry) { return entry.second % kPair; }))
        continue;
      const BatchChoice choice = choose(set, wanted_);
      if (!choice.configuration) continue;
      const Plan plan = plan_of(set, choice);
      if (best.batch == 0 || epoch_s(plan) < epoch_s(best)) best = plan;
    }
    if (best.batch == 0) throw InputError("no set of pairs of GPUs can run the workload");
    return best;
  }
  double epoch_s(const Plan& plan) const {
    return double(setting_.workload.epoch_samples()) / double(plan.batch) * plan.step_s;
  }

  const Setting& setting_;
  ThroughputModel model_;
  double wanted_;
};

}  // namespace

std::unique_ptr<Policy> make_paper(const Setting& setting) {
  return std::make_unique<PaperPolicy>(setting);
}

}  // namespace jabas::sim
