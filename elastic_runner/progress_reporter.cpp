#include "elastic_runner/progress_reporter.h"

#include <cmath>
#include <cstdio>
#include <utility>

namespace jabas {
namespace {

constexpr std::chrono::milliseconds kProgressInterval{1000};

// JSON has no number for a diverged loss.
double finite(double value) { return std::isfinite(value) ? value : -1; }

}  // namespace

Metrics& ProgressReporter::metrics() {
  if (!metrics_) metrics_.emplace(context_.spec.metrics_file);
  return *metrics_;
}

void ProgressReporter::after_step(const ActiveGeneration& generation, const StepOutcome& outcome,
                                  std::vector<BatchDecision> decisions) {
  for (WorkerTimes& times : typical_.add(generation, outcome, Clock::now()))
    context_.control.send(std::move(times));
  if (generation.rank() != 0) return;
  const RunState& state = context_.state;
  metrics().step(state, outcome, generation.split.local_batch * generation.split.virtual_workers);
  for (auto& decision : decisions) decisions_.push_back(std::move(decision));
  samples_since_ += state.global_batch();
  last_times_ = outcome.times;
  last_loss_ = outcome.loss;
  if (!std::isfinite(outcome.loss) && !diverged_said_) {
    diverged_said_ = true;
    std::fprintf(
        stderr,
        "jabas-run: the loss of step %lld is not a number: the training has diverged; it goes on\n",
        static_cast<long long>(state.step));
  }
  const auto elapsed = Clock::now() - last_progress_;
  if (elapsed < kProgressInterval) return;
  send_progress(generation, outcome.loss,
                double(samples_since_) / std::chrono::duration<double>(elapsed).count());
}

void ProgressReporter::send_progress(const ActiveGeneration& generation, double loss,
                                     double samples_per_s) {
  const RunState& state = context_.state;
  Progress progress;
  progress.generation = state.generation;
  progress.epoch = state.epoch;
  progress.step = state.step;
  progress.samples_consumed = state.samples_consumed;
  progress.epoch_samples = context_.train_samples;
  progress.global_batch = generation.split.local_batch * generation.split.virtual_workers;
  progress.loss = finite(loss);
  progress.samples_per_s = samples_per_s;
  progress.times = last_times_;
  progress.batch_decisions = std::exchange(decisions_, {});
  progress.emulated_steps = state.emulated_steps;
  progress.emulation_overruns = state.emulation_overruns;
  context_.control.send(std::move(progress));
  last_progress_ = Clock::now();
  samples_since_ = 0;
}

void ProgressReporter::after_epoch(const ActiveGeneration& generation, const Evaluation& evaluation,
                                   double evaluation_s) {
  const RunState& state = context_.state;
  if (auto times = typical_.take()) context_.control.send(std::move(*times));
  if (generation.rank() != 0) return;
  send_progress(generation, last_loss_, double(state.samples_consumed) / state.epoch_train_s);
  metrics().epoch(state.epoch, evaluation);
  EpochReport report;
  report.generation = state.generation;
  report.epoch = state.epoch;
  report.steps = state.epoch_steps;
  report.samples = state.samples_consumed;
  report.last_step = state.step;
  report.global_batch = state.global_batch();
  report.loss = finite(state.epoch_loss_sum / double(state.samples_consumed));
  report.test_accuracy = state.test_accuracy;
  report.train_s = state.epoch_train_s;
  report.evaluation_s = evaluation_s;
  report.wanted_batch =
      context_.spec.adaptive ? state.adaptive.wanted_batch : double(state.global_batch());
  report.grad_sqr = std::max(0.0, state.adaptive.sqr());
  report.grad_var = context_.spec.adaptive ? state.adaptive.variance(context_.spec.batch_min) : 0;
  report.emulated_steps = state.emulated_steps;
  report.emulation_overruns = state.emulation_overruns;
  context_.control.send(report);
}

}  // namespace jabas
