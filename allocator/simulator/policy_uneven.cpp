// `uneven` (LB-BSP, Cannikin): all GPUs, each with a local batch in proportion to its speed; the
// global batch with the most progress per second at once and every p steps.
#include "allocator/error.h"
#include "allocator/simulator/policies.h"
#include "allocator/simulator/policy_tools.h"

namespace jabas::sim {
namespace {

class UnevenPolicy : public Policy {
 public:
  explicit UnevenPolicy(const Setting& setting) : setting_(setting) {}

  Plan plan(const Observation& seen) override {
    const GpuCounts& gpus = seen.moment == Moment::kAdjust ? seen.plan.gpus : seen.available;
    if (gpus_ != gpus) {
      gpus_ = gpus;
      frontier_ = {};
      add_uneven_batches(gpus_, setting_, &frontier_);
    }
    const Plan* best =
        fastest_progress(frontier_, [&](double batch) { return gain(batch, seen.noise); });
    if (!best) throw InputError(to_text(gpus_) + " cannot run the workload's batches");
    return *best;
  }
  ChangeCost change_cost() const override { return kRestart; }

 private:
  const Setting& setting_;
  GpuCounts gpus_;
  BatchFrontier frontier_;
};

}  // namespace

std::unique_ptr<Policy> make_uneven(const Setting& setting) {
  return std::make_unique<UnevenPolicy>(setting);
}

}  // namespace jabas::sim
