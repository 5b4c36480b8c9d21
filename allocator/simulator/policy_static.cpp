// `static`: one batch on all GPUs for the whole run, B_0 unless another is given.
// `static-tuned`: the best fixed type, count and batch in hindsight.
#include <cmath>
#include <map>

#include "allocator/batch_choice.h"
#include "allocator/error.h"
#include "allocator/objective.h"
#include "allocator/simulator/policies.h"
#include "allocator/simulator/policy_tools.h"

namespace jabas::sim {
namespace {

class StaticPolicy : public Policy {
 public:
  explicit StaticPolicy(const Setting& setting) : setting_(setting) {}

  Plan plan(const Observation& seen) override {
    if (seen.moment == Moment::kAdjust) return seen.plan;
    if (seen.moment == Moment::kBoundary && seen.plan.gpus == seen.available) return seen.plan;
    const std::int64_t batch =
        setting_.fixed_batch > 0 ? setting_.fixed_batch : setting_.workload.batch_min();
    BatchRules rules{batch, batch};
    rules.needs_two_workers = false;
    return plan_of(seen.available,
                   choose_batch_on(double(batch), ranked(seen.available, setting_.profile), rules,
                                   setting_.model));
  }
  ChangeCost change_cost() const override { return kRestart; }

 private:
  const Setting& setting_;
};

class StaticTunedPolicy : public Policy {
 public:
  explicit StaticTunedPolicy(const Setting& setting) : setting_(setting) {}

  Plan plan(const Observation& seen) override {
    if (seen.moment == Moment::kAdjust || seen.moment == Moment::kBoundary) return seen.plan;
    std::vector<CandidateResult> results;
    for (const GpuCounts& set : one_type_sets(seen.available)) {
      BatchFrontier frontier;
      add_identical_workers(set, setting_, &frontier);
      for (const auto& [batch, plan] : frontier.points()) {
        CandidateResult result;
        result.gpus = set;
        result.configuration = {plan.local_batch, batch / plan.local_batch, {}, plan.step_s};
        result.rest_s = steps_at(batch) * plan.step_s;
        result.rest_cost = price_per_h(set, setting_.prices) * result.rest_s / 3600;
        results.push_back(std::move(result));
      }
    }
    if (results.empty()) throw InputError("no set of one GPU type can run the workload's batches");
    rank(&results, setting_.objective);
    const Configuration& best = results.front().configuration;
    return {results.front().gpus, best.local_batch * best.virtual_workers, best.local_batch,
            best.step_s, false};
  }
  ChangeCost change_cost() const override { return kRestart; }

 private:
  // Of the whole run at one batch.
  double steps_at(std::int64_t batch) {
    const auto [known, fresh] = steps_.emplace(batch, 0);
    const Workload& workload = setting_.workload;
    for (double progress = 0; fresh && progress < workload.work();) {
      const double end = std::min(workload.row_end(progress), workload.work());
      known->second += (end - progress) / workload.gain(progress, double(batch));
      progress = end;
    }
    return known->second;
  }

  const Setting& setting_;
  std::map<std::int64_t, double> steps_;
};

}  // namespace

std::unique_ptr<Policy> make_static(const Setting& setting) {
  return std::make_unique<StaticPolicy>(setting);
}
std::unique_ptr<Policy> make_static_tuned(const Setting& setting) {
  return std::make_unique<StaticTunedPolicy>(setting);
}

}  // namespace jabas::sim
