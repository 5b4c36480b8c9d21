#include "elastic_runner/replica.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include "allocator/error.h"
#include "elastic_runner/predictions.h"

namespace jabas {
namespace {

// Runs after a parameter's gradient was accumulated.
struct AccumulatedHook : torch::autograd::FunctionPostHook {
  explicit AccumulatedHook(std::function<void()> action) : action_(std::move(action)) {}
  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list&) override {
    action_();
    return outputs;
  }

 private:
  std::function<void()> action_;
};

at::Tensor view_of(const at::Tensor& flat, const FlatLayout::Slot& slot, const at::Tensor& like) {
  return flat.narrow(0, slot.offset, slot.count).view_as(like);
}

}  // namespace

Replica::Replica(std::unique_ptr<Model> model, const FlatLayout& layout, const at::Tensor& weights,
                 const WeightsEpoch& epoch)
    : model_(std::move(model)), layout_(layout), epoch_(epoch), missing_(layout.buckets.size(), 0) {
  const at::NoGradGuard no_grad;
  auto& parameters = model_->parameters();
  // A model file may have been replaced since the first replica was made.
  bool same = parameters.size() == layout.slots.size();
  for (std::size_t i = 0; same && i < parameters.size(); ++i)
    same = parameters[i].tensor.numel() == layout.slots[i].count;
  if (!same)
    throw InputError("the model's parameters are not those it had at the start: its file changed");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    at::Tensor& parameter = parameters[i].tensor;
    parameter.set_data(view_of(weights, layout.slots[i], parameter));
    places_.push_back(parameter.data_ptr());
  }
  make_half(halves_[0]);
  direct_gradients_to(0);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    accumulators_.push_back(torch::autograd::impl::grad_accumulator(parameters[i].tensor));
    accumulators_.back()->add_post_hook(std::make_unique<AccumulatedHook>(
        [this, bucket = layout.slots[i].bucket] { parameter_done(bucket); }));
  }
}

Replica::~Replica() = default;

void Replica::make_half(Half& half) const {
  const auto& parameters = model_->parameters();
  half.flat = at::zeros({layout_.size}, parameters[0].tensor.options().requires_grad(false));
  for (std::size_t i = 0; i < parameters.size(); ++i)
    half.views.push_back(view_of(half.flat, layout_.slots[i], parameters[i].tensor));
}

void Replica::direct_gradients_to(int half) {
  if (half == target_half_) return;
  target_half_ = half;
  auto& parameters = model_->parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    parameters[i].tensor.mutable_grad() = halves_[half].views[i];
}

void Replica::check_places() const {
  const auto& parameters = model_->parameters();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto& [name, parameter] = parameters[i];
    if (parameter.data_ptr() != places_[i])
      throw Error(ExitCode::kFailed, "model: the values of parameter " + name +
                                         " were moved out of the shared weights; a model must not "
                                         "load, convert or move its parameters during training");
    const at::Tensor& gradient = parameter.grad();
    if (!gradient.defined() || gradient.data_ptr() != halves_[target_half_].views[i].data_ptr())
      throw Error(ExitCode::kFailed, "model: the gradient of parameter " + name +
                                         " was replaced; a model must not set or drop its "
                                         "parameters' gradients");
  }
}

void Replica::begin_step(bool halves, std::function<void(int)> arrive) {
  check_places();
  used_halves_ = halves ? 2 : 1;
  if (halves && !halves_[1].flat.defined()) make_half(halves_[1]);
  for (int half = 0; half < used_halves_; ++half) halves_[half].flat.zero_();
  arrive_ = std::move(arrive);
  last_pass_ = false;
  for (std::size_t i = 0; i < missing_.size(); ++i) missing_[i] = layout_.buckets[i].parameters;
}

double Replica::forward(const Batch& batch, double scale, RandomStream& random) {
  epoch_of_loss_ = epoch_.now();
  const Predictions predictions(model_->forward(batch, &random), batch.labels, model_->loss());
  loss_ = predictions.loss_sum() * (scale / predictions.labels_per_sample());
  return loss_.item<double>();
}

void Replica::backward(int half, bool last_pass) {
  JABAS_ASSERT(half < used_halves_, "gradient half");
  direct_gradients_to(half);
  last_pass_ = last_pass;
  loss_.backward();
  JABAS_ASSERT(epoch_.now() == epoch_of_loss_, "the weights were updated during a pass");
  loss_.reset();
}

void Replica::parameter_done(int bucket) {
  if (last_pass_ && --missing_[static_cast<std::size_t>(bucket)] == 0) arrive_(bucket);
}

void Replica::finish_step() {
  check_places();
  for (std::size_t bucket = 0; bucket < missing_.size(); ++bucket)
    if (missing_[bucket] > 0) arrive_(static_cast<int>(bucket));
}

}  // namespace jabas
