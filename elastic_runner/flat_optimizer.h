// The optimizers on the flat weight buffer: sgd, adam and adamw with the bits of torch::optim
// (flat_optimizer_tests), and lamb (You et al. 2020, algorithm 2, with φ the identity).
//
// The update runs over pieces that fit into the cache, all of its operations on one piece before
// the next: several times less memory traffic than one operation after the other over everything.
// Two groups of parameters: those that decay and those that do not.
// Ownership: shares the weights; owns its state, which has the layout of the weights, so that it is
// saved and handed to joiners like them. Nothing else is kept from step to step.
// Threads: one at a time.   Errors: UsageError for an unknown name.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "elastic_runner/flat_layout.h"
#include "elastic_runner/iidp_engine.h"

namespace jabas {

class FlatOptimizer {
 public:
  struct State {
    std::string name;  // as torch::optim calls it: momentum, exp_avg, exp_avg_sq
    at::Tensor flat;   // zeros before the first step
  };

  virtual ~FlatOptimizer() = default;
  // One update. `gradient` has the layout of the weights and is scratch memory afterwards. `step`
  // counts from 1 and never repeats: Adam's bias corrections follow from it.
  virtual void step(at::Tensor& gradient, double learning_rate, std::int64_t step) = 0;
  // Valid as long as this object.
  const std::vector<State>& state() const { return state_; }

 protected:
  std::vector<State> state_;
};

// `decays` says for each parameter of the layout whether weight decay applies to it.
std::unique_ptr<FlatOptimizer> make_flat_optimizer(const OptimizerOptions& options,
                                                   const at::Tensor& weights,
                                                   const FlatLayout& layout,
                                                   const std::vector<bool>& decays);

}  // namespace jabas
