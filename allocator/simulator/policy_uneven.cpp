// `uneven` (LB-BSP: Chen et al., SoCC 2020; Cannikin): all GPUs, each with a local batch in
// proportion to its speed; the global batch with the most progress per second at once and every p
// steps. Both sources size one local batch per GPU and step: nothing is accumulated.
// `uneven-accum`: the same with accumulation, which none of them has.
#include "allocator/error.h"
#include "allocator/simulator/policies.h"
#include "allocator/simulator/policy_tools.h"

namespace jabas::sim {
namespace {

class UnevenPolicy : public Policy {
 public:
  UnevenPolicy(const Setting& setting, bool accumulate)
      : setting_(setting), accumulate_(accumulate) {}

  Plan plan(const Observation& seen) override {
    const GpuCounts& gpus = seen.moment == Moment::kAdjust ? seen.plan.gpus : seen.available;
    if (gpus_ != gpus) {
      gpus_ = gpus;
      frontier_ = {};
      add_uneven_batches(gpus_, setting_, accumulate_, &frontier_);
    }
    const Plan* best =
        fastest_progress(frontier_, [&](double batch) { return gain(batch, seen.noise); });
    if (!best) throw InputError(to_text(gpus_) + " cannot run the workload's batches");
    return *best;
  }
  ChangeCost change_cost() const override { return kRestart; }

 private:
  const Setting& setting_;
  const bool accumulate_;
  GpuCounts gpus_;
  BatchFrontier frontier_;
};

}  // namespace

std::unique_ptr<Policy> make_uneven(const Setting& setting, bool accumulate) {
  return std::make_unique<UnevenPolicy>(setting, accumulate);
}

}  // namespace jabas::sim
