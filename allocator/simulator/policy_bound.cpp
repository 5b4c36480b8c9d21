// `bound`: knows the true gain of every batch and may change batch and set at any time for nothing.
// No policy whose virtual workers all have the same local batch is faster.
#include "allocator/error.h"
#include "allocator/simulator/policies.h"
#include "allocator/simulator/policy_tools.h"

namespace jabas::sim {
namespace {

class BoundPolicy : public Policy {
 public:
  explicit BoundPolicy(const Setting& setting) : setting_(setting) {}

  Plan plan(const Observation& seen) override {
    if (gpus_ != seen.available) {
      gpus_ = seen.available;
      frontier_ = {};
      for (const GpuCounts& set : counted_sets(gpus_))
        add_identical_workers(set, setting_, &frontier_);
    }
    const Plan* best = fastest_progress(
        frontier_, [&](double batch) { return setting_.workload.gain(seen.progress, batch); });
    if (!best) throw InputError("no set of " + to_text(gpus_) + " can run the workload's batches");
    return *best;
  }
  ChangeCost change_cost() const override { return {}; }
  bool every_row() const override { return true; }

 private:
  const Setting& setting_;
  GpuCounts gpus_;
  BatchFrontier frontier_;  // of all sets together
};

}  // namespace

std::unique_ptr<Policy> make_bound(const Setting& setting) {
  return std::make_unique<BoundPolicy>(setting);
}

}  // namespace jabas::sim
