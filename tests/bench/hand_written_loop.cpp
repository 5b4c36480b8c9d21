#include "tests/bench/hand_written_loop.h"

#include <numeric>

#include "allocator/error.h"
#include "elastic_runner/models.h"

namespace jabas::bench {
namespace {

std::unique_ptr<torch::optim::Optimizer> torch_optimizer(const OptimizerOptions& options,
                                                         std::vector<torch::Tensor> parameters) {
  using namespace torch::optim;
  if (options.name == "sgd")
    return std::make_unique<SGD>(parameters, SGDOptions(0.05).momentum(options.momentum));
  return std::make_unique<AdamW>(parameters, AdamWOptions(1e-3));
}

Batch whole(const EngineOptions& options) {
  const auto loader = make_batch_loader(options, at::kFloat);
  std::vector<std::int64_t> samples(static_cast<std::size_t>(loader->train_samples()));
  std::iota(samples.begin(), samples.end(), 0);
  RandomStream nothing({0});  // these data are not augmented
  return loader->train(samples, nothing);
}

// The comparison would be of two different things otherwise.
void check_same_parameters(const EngineOptions& options, TorchModel& model) {
  const auto own = make_model(options, make_batch_loader(options, at::kFloat)->shape(), at::kFloat);
  std::int64_t count = 0, others = 0;
  for (const auto& parameter : own->parameters()) count += parameter.tensor.numel();
  for (const auto& parameter : model.parameters()) others += parameter.numel();
  JABAS_ASSERT(count == others && own->parameters().size() == model.parameters().size(),
               options.model + ": " + std::to_string(count) + " weights beside " +
                   std::to_string(others) + " written by hand");
}

}  // namespace

HandWrittenLoop::HandWrittenLoop(const EngineOptions& options, std::int64_t batch)
    : batch_(batch),
      data_(whole(options)),
      model_(make_torch_model(options)),
      optimizer_(torch_optimizer(options.optimizer, model_->parameters())) {
  check_same_parameters(options, *model_);
  model_->train();
}

double HandWrittenLoop::step() {
  std::vector<std::int64_t> samples(static_cast<std::size_t>(batch_));
  for (auto& sample : samples) sample = next_++ % data_.labels.size(0);
  const torch::Tensor index = torch::tensor(samples);
  const torch::Tensor inputs = data_.inputs[0].index_select(0, index);
  const torch::Tensor labels = data_.labels.index_select(0, index);
  optimizer_->zero_grad();
  const torch::Tensor loss = torch::nn::functional::cross_entropy(
      model_->forward(inputs).flatten(0, -2), labels.flatten());
  loss.backward();
  optimizer_->step();
  return loss.item<double>();
}

}  // namespace jabas::bench
