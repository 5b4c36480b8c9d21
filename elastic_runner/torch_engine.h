// IidpEngine on LibTorch: the weights and the streams that share them.
//
// Its parts: torch_engine.cpp builds it, torch_engine_step.cpp trains a step,
// torch_engine_evaluation.cpp evaluates, torch_engine_measuring.cpp measures passes that are no
// training. Ownership, threads, errors: iidp_engine.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <exception>
#include <memory>
#include <vector>

#include "elastic_runner/bucket_reducer.h"
#include "elastic_runner/flat_optimizer.h"
#include "elastic_runner/iidp_engine.h"
#include "elastic_runner/models.h"
#include "elastic_runner/read_ahead.h"
#include "elastic_runner/replica.h"
#include "elastic_runner/step_reduction.h"
#include "elastic_runner/stream_worker.h"
#include "elastic_runner/weights_epoch.h"

namespace jabas {

using EngineClock = std::chrono::steady_clock;

inline double seconds_since(EngineClock::time_point begin) {
  return std::chrono::duration<double>(EngineClock::now() - begin).count();
}

// Intra-operation threads spin against the streams: 5 times slower on a busy machine. The setting
// is per thread.
void use_one_thread();

// Norms and biases have one dimension.
std::vector<bool> decaying(Model& model, bool all);

// Runs every action whatever fails; rethrow() then throws the first failure.
class FirstFailure {
 public:
  template <typename Action>
  void collect(const Action& action) {
    try {
      action();
    } catch (...) {  // rethrown by rethrow()
      if (!failure_) failure_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::exception_ptr failure_;
};

class TorchEngine : public IidpEngine {
 public:
  explicit TorchEngine(const EngineOptions& options);

  std::int64_t train_samples() const override { return loader_->train_samples(); }
  bool has_batch_norm() const override { return !prototype_->buffers().empty(); }

  void configure(int streams, int accum_steps, std::int64_t local_batch) override;
  StepTimes measure(std::int64_t local_batch, int streams, int repeats) override;
  std::vector<double> bucket_bytes() const override;
  StepOutcome train_step(const StepPlan& plan, Communicator& communicator) override;
  Evaluation evaluate(int rank, int world_size) override;
  std::vector<StateTensor> state() override;

 private:
  // A virtual stream worker: replica and thread, which builds and uses it. Destroyed thread first.
  struct Stream {
    std::unique_ptr<Replica> replica;
    StepTimes times;  // of the current step
    std::unique_ptr<StreamWorker> worker;
  };

  std::unique_ptr<Stream> make_stream();
  at::Tensor flat_view(const at::Tensor& flat, std::size_t parameter) const;
  void load_canonical_buffers(Model& model) const;
  bool has_work(const StepPlan& plan, std::size_t stream) const;
  void run_passes(const StepPlan& plan, std::size_t stream, std::size_t source);
  StepTimes measure_pass(std::int64_t local_batch, int repeat);
  double measure_update(int repeats);
  Evaluation evaluate_chunks(Stream& stream, const std::vector<std::vector<std::int64_t>>& chunks,
                             std::size_t first);

  const EngineOptions options_;
  const at::ScalarType type_;
  const std::unique_ptr<const BatchLoader> loader_;
  ReadAhead reader_;
  const std::unique_ptr<Model>
      prototype_;  // its parameters view the weights, its buffers are the canonical ones
  const FlatLayout layout_;
  at::Tensor weights_;
  WeightsEpoch weights_epoch_;
  const std::unique_ptr<FlatOptimizer> optimizer_;
  StepReduction reduction_;
  BucketReducer reducer_;
  int accum_steps_ = 0;
  std::vector<std::unique_ptr<Stream>> streams_;
};

}  // namespace jabas
