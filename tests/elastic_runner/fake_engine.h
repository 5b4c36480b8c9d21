// An engine without tensors: the "weights" are exact sums over the samples read, so that any
// placement and any history of resizes must give the same numbers, and a lost or doubled sample
// shows in them.
#pragma once

#include <atomic>

#include "elastic_runner/iidp_engine.h"

namespace jabas::testing {

class FakeEngine : public IidpEngine {
 public:
  FakeEngine(std::int64_t samples,
             std::function<void(std::int64_t, const std::vector<std::int64_t>&)> on_read)
      : samples_(samples), on_read_(std::move(on_read)) {}

  std::int64_t train_samples() const override { return samples_; }
  bool has_batch_norm() const override { return true; }
  void configure(int streams, int accum_steps, std::int64_t) override {
    passes_ = streams * (accum_steps + 1);
  }

  StepTimes measure(std::int64_t local_batch, int streams, int) override {
    ++measured;
    const double s = 1e-3 * double(local_batch) * streams;
    return {0, s / 3, s * 2 / 3, 0, streams == 1 ? 1e-4 : 0, s};
  }
  std::vector<double> bucket_bytes() const override { return {16}; }
  StepOutcome train_step(const StepPlan& plan, Communicator& communicator) override {
    if (before_step) before_step(plan);
    if (int(plan.slices.size()) != passes_)
      throw Error(ExitCode::kInternal, "slices do not fit the split");
    std::vector<double> sums(2 + plan.control.size());
    for (std::size_t i = 0; i < plan.slices.size(); ++i) {
      if (plan.slices[i].empty()) continue;
      if (on_read_) on_read_(plan.first_worker + std::int64_t(i), plan.slices[i]);
      for (std::int64_t index : plan.slices[i]) {
        sums[0] += double((index + 1) * plan.epoch);
        sums[1] += double((index * index) % 17);
      }
    }
    for (std::size_t i = 0; i < plan.control.size(); ++i) sums[2 + i] = plan.control[i];
    communicator.all_reduce_sum(sums.data(), sums.size());
    weights_[0] += sums[0];
    weights_[1] += double(plan.step) * sums[1];
    momentum_ = plan.learning_rate * sums[0];
    StepOutcome outcome;
    outcome.loss = 1 / double(plan.step);
    outcome.times = {0, 1e-3, 2e-3, 1e-4, 1e-4, 3.2e-3};
    outcome.buckets = {{16, 1e-4}};
    outcome.control.assign(sums.begin() + 2, sums.end());
    // φ falls with the step, so that an adaptive run grows.
    if (plan.measure)
      outcome.halves =
          StepOutcome::Halves{1, 1, 0.55, 0.1, plan.step_samples / 2, (plan.step_samples + 1) / 2};
    return outcome;
  }
  Evaluation evaluate(int rank, int) override {
    if (before_evaluation) before_evaluation();
    return rank == 0 ? Evaluation{1, 3, 4} : Evaluation{};
  }
  std::vector<StateTensor> state() override {
    return {{"weight/w", "F64", {2}, weights_, sizeof weights_},
            {"momentum/w", "F64", {}, &momentum_, sizeof momentum_}};
  }

  // Called on the training thread before anything else of a step; may throw to play a fault.
  std::function<void(const StepPlan&)> before_step;
  std::function<void()> before_evaluation;
  int measured = 0;  // calls of measure()

 private:
  const std::int64_t samples_;
  std::function<void(std::int64_t, const std::vector<std::int64_t>&)> on_read_;
  int passes_ = 1;
  double weights_[2] = {0, 0};
  double momentum_ = 0;
};

}  // namespace jabas::testing
