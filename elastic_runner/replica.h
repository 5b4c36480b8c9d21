// One model replica on shared weights: its parameters alias the flat weight buffer, its gradients
// lie in a flat buffer of its own. Reports each bucket of its last pass as soon as backward has
// produced it.
//
// Errors: InputError if the model has other parameters than the layout (its file was replaced).
// Ownership: owns model and gradients; shares the weight storage.
// Threads: construct, use and destroy on one thread at a time; gradients may be read and changed by
// another after their bucket's arrival.
// Errors: Error if the model's parameters no longer lie in the shared weights, or their gradients
// not in this replica's buffer: loading into the model, moving it or dropping gradients does that
// silently. Weights that change during a pass are a bug of the caller: asserted.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <vector>

#include "elastic_runner/batch_loader.h"
#include "elastic_runner/flat_layout.h"
#include "elastic_runner/models.h"
#include "elastic_runner/weights_epoch.h"

namespace torch::autograd {
struct Node;
}

namespace jabas {

class Replica {
 public:
  Replica(std::unique_ptr<Model> model, const FlatLayout& layout, const at::Tensor& weights,
          const WeightsEpoch& epoch);
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  // Zeroes the gradients. `halves`: gradients of odd virtual workers go to a second buffer.
  // `arrive(bucket)` is called once per bucket, from the last pass on.
  void begin_step(bool halves, std::function<void(int)> arrive);

  // Forward returns sum over samples of the loss, times `scale`; backward then accumulates that
  // sum's gradient.
  double forward(const Batch& batch, double scale, RandomStream& random);
  void backward(int half, bool last_pass);
  // Checks the parameters' places again; arrives at the buckets that backward left out because a
  // parameter was unused.
  void finish_step();

  // Gradients of half 0 (all of them without halves) or 1.
  const at::Tensor& gradient(int half) const {
    return halves_[static_cast<std::size_t>(half)].flat;
  }
  int halves() const { return used_halves_; }
  Model& model() { return *model_; }

 private:
  struct Half {
    at::Tensor flat;
    std::vector<at::Tensor> views;  // by parameter
  };
  void make_half(Half& half) const;
  void direct_gradients_to(int half);
  void parameter_done(int bucket);
  void check_places() const;

  std::unique_ptr<Model> model_;
  const FlatLayout& layout_;
  const WeightsEpoch& epoch_;
  std::vector<const void*> places_;  // of the parameters' values
  Half halves_[2];                   // the second is made when first needed
  int used_halves_ = 1, target_half_ = -1;
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators_;  // hooks die with them
  at::Tensor loss_;
  std::int64_t epoch_of_loss_ = 0;
  bool last_pass_ = false;
  std::vector<int> missing_;  // parameters of the last pass, by bucket
  std::function<void(int)> arrive_;
};

}  // namespace jabas
