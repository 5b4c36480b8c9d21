// What a policy of the simulator is asked and answers: only the batch and the set of GPUs. The
// engine counts time, money and progress, the same way for every policy (engine.h).
// Units: seconds, samples, the price list's currency.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "allocator/config_solver.h"
#include "allocator/cost_model.h"
#include "allocator/gpu_set.h"
#include "allocator/profile.h"
#include "allocator/progress.h"
#include "allocator/scaling_policy.h"
#include "allocator/simulator/workload.h"
#include "allocator/throughput_model.h"

namespace jabas::sim {

// What all policies of one comparison share.
struct Setting {
  Setting(Workload work, Profile profile_of_work, PriceList price_list, ModelRules model_rules = {})
      : workload(std::move(work)),
        profile(std::move(profile_of_work)),
        rules(model_rules),
        model(profile, rules),
        prices(std::move(price_list)) {}

  Workload workload;
  Profile profile;
  ModelRules rules;  // by which the profile is read (`paper` always reads it by the reference's)
  ThroughputModel model;
  PriceList prices;
  Objective objective;             // of the policies that have one
  std::int64_t adapt_every = 100;  // p, steps between adjustments of the batch
  double similarity_target = 0.3;  // of the cosine, for the policies that follow it
  std::int64_t fixed_batch = 0;    // of `static`; 0 = the smallest batch of the workload
  int unit = 2;                    // of `jabas`: GPUs that come and go together
};

// What the run does until its policy is asked again.
struct Plan {
  GpuCounts gpus;
  std::int64_t batch = 0;        // global
  std::int64_t local_batch = 0;  // 0: not the same on every GPU
  double step_s = 0;
  bool clamped = false;  // the GPUs cannot run the batch that was wanted
  bool operator==(const Plan&) const = default;
};

enum class Moment {
  kStart,     // nothing is held
  kAdjust,    // every p steps: the batch; `bound` is asked at every row and may change all
  kBoundary,  // an epoch is over: the set
  kLoss       // GPUs were taken away: plan.gpus is what is left
};

struct Observation {
  Moment moment = Moment::kStart;
  Plan plan;                             // the present one; empty at the start
  GpuCounts available;                   // held ones included
  std::map<std::string, double> wait_s;  // by type, of one more GPU
  GradientNoise noise;                   // at the present point of the run and batch
  double progress = 0, steps = 0, time_s = 0, cost = 0;
  int epoch = 1;  // that begins or goes on
  int epochs_since_change = 0;
};

// What changing the set takes.
struct ChangeCost {
  double pause_s = 0;    // nothing is trained, all GPUs of the new set are paid
  double startup_s = 0;  // new GPUs are paid before they train; the run goes on
};

class Policy {
 public:
  virtual ~Policy() = default;
  // Throws InputError if no available set can run the workload.
  virtual Plan plan(const Observation& seen) = 0;
  virtual ChangeCost change_cost() const = 0;
  // Whether kAdjust also comes at the beginning of every row of the workload.
  virtual bool every_row() const { return false; }
};

// The accepted names, in the order in which they are described (docs/simulator.md).
const std::vector<std::string>& policy_names();
// `setting` must outlive it. Throws UsageError for an unknown name.
std::unique_ptr<Policy> make_policy(const std::string& name, const Setting& setting);

}  // namespace jabas::sim
