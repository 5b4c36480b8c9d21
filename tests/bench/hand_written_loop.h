// The loop the engine is compared with: a torch::nn model, torch::optim and batches cut out of
// tensors in memory.
#pragma once

#include <cstdint>
#include <memory>

#include "elastic_runner/batch_loader.h"
#include "tests/bench/torch_models.h"

namespace jabas::bench {

class HandWrittenLoop {
 public:
  HandWrittenLoop(const EngineOptions& options, std::int64_t batch);
  double step();  // returns the loss
  TorchModel& model() { return *model_; }
  std::shared_ptr<TorchModel> shared_model() { return model_; }
  torch::optim::Optimizer& optimizer() { return *optimizer_; }

 private:
  const std::int64_t batch_;
  Batch data_;  // the whole training set
  const std::shared_ptr<TorchModel> model_;
  const std::unique_ptr<torch::optim::Optimizer> optimizer_;
  std::int64_t next_ = 0;
};

}  // namespace jabas::bench
