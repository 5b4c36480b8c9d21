// `simigrad` (SimiGrad, NeurIPS 2021): all GPUs, equal local batches; every p steps 10 % more or
// less by the cosine of the gradients of two halves of the batch. `simigrad-jump` goes to the batch
// that has the wanted cosine at once. A batch too small for all GPUs begins at the smallest they
// can run together.
#include <algorithm>

#include "allocator/simulator/policies.h"
#include "allocator/simulator/policy_tools.h"

namespace jabas::sim {
namespace {

class SimigradPolicy : public Policy {
 public:
  SimigradPolicy(const Setting& setting, bool jump) : setting_(setting), jump_(jump) {}

  Plan plan(const Observation& seen) override {
    const double target = setting_.similarity_target;
    if (seen.moment == Moment::kStart && wanted_ <= 0) {
      wanted_ = double(setting_.workload.batch_min());
      if (jump_) wanted_ = batch_of_similarity(target, seen.noise);
    } else if (seen.moment == Moment::kAdjust) {
      if (jump_)
        wanted_ = batch_of_similarity(target, seen.noise);
      else
        wanted_ *= expected_similarity(double(seen.plan.batch), seen.noise) < target ? 1.1 : 0.9;
    } else if (seen.moment == Moment::kBoundary && seen.plan.gpus == seen.available) {
      return seen.plan;
    }
    wanted_ = std::clamp(wanted_, double(setting_.workload.batch_min()),
                         double(setting_.workload.batch_max()));
    const GpuCounts& gpus = seen.moment == Moment::kAdjust ? seen.plan.gpus : seen.available;
    // Where its own batch is out of reach it goes on from the one that it really has.
    wanted_ = std::max(wanted_, double(equal_split(1, gpus, setting_).batch));
    return equal_split(wanted_, gpus, setting_);
  }
  ChangeCost change_cost() const override { return kRestart; }

 private:
  const Setting& setting_;
  bool jump_;
  double wanted_ = 0;  // real-valued: steps of 10 % must not get lost in whole local batches
};

}  // namespace

std::unique_ptr<Policy> make_simigrad(const Setting& setting, bool jump) {
  return std::make_unique<SimigradPolicy>(setting, jump);
}

}  // namespace jabas::sim
