// `pollux` (OSDI 2021) for one run: GPUs of one type; the batch with the most progress per second
// at once and every p steps, the number of GPUs likewise at every epoch, for a gain of more than
// 5 %.
#include "allocator/error.h"
#include "allocator/goodput_choice.h"
#include "allocator/simulator/policies.h"
#include "allocator/simulator/policy_tools.h"

namespace jabas::sim {
namespace {

constexpr double kLeastGain = 1.05;

class PolluxPolicy : public Policy {
 public:
  explicit PolluxPolicy(const Setting& setting) : setting_(setting) {}

  Plan plan(const Observation& seen) override {
    if (seen.moment == Moment::kAdjust) return best_batch(seen.plan.gpus, seen.noise);
    Plan best, present;
    for (const GpuCounts& set : one_type_sets(seen.available)) {
      const BatchChoice choice = choose(set, seen.noise);
      if (!choice.configuration) continue;
      const Plan plan = plan_of(set, choice);
      if (best.batch == 0 || rate(plan, seen.noise) > rate(best, seen.noise)) best = plan;
      if (set == seen.plan.gpus) present = plan;
    }
    if (best.batch == 0) throw InputError("no set of one GPU type can run the workload");
    const bool better =
        present.batch == 0 || rate(best, seen.noise) > rate(present, seen.noise) * kLeastGain;
    return better ? best : present;
  }
  ChangeCost change_cost() const override { return kRestart; }

 private:
  BatchChoice choose(const GpuCounts& gpus, const GradientNoise& noise) const {
    BatchRules rules = batch_rules(setting_);
    rules.needs_two_workers = false;
    return choose_goodput(ranked(gpus, setting_.profile), rules, noise, setting_.model);
  }
  Plan best_batch(const GpuCounts& gpus, const GradientNoise& noise) const {
    return plan_of(gpus, choose(gpus, noise));
  }
  static double rate(const Plan& plan, const GradientNoise& noise) {
    return gain(double(plan.batch), noise) / plan.step_s;
  }

  const Setting& setting_;
};

}  // namespace

std::unique_ptr<Policy> make_pollux(const Setting& setting) {
  return std::make_unique<PolluxPolicy>(setting);
}

}  // namespace jabas::sim
