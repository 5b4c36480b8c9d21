#include <ATen/ATen.h>

#include <algorithm>

#include "allocator/error.h"
#include "elastic_runner/batch_loader.h"
#include "elastic_runner/blas_turn.h"
#include "elastic_runner/gradient_clipping.h"
#include "elastic_runner/median.h"
#include "elastic_runner/torch_engine.h"

namespace jabas {
namespace {

using Clock = EngineClock;

constexpr std::uint64_t kMeasuringDraws = 0x6d6561737572;  // of passes that are no training

}  // namespace

// A pass as in training, but its gradients reach nobody, its buffers are the replica's own and its
// random numbers of another series.
StepTimes TorchEngine::measure_pass(std::int64_t local_batch, int repeat) {
  const auto begin = Clock::now();
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    std::vector<std::int64_t> slice;
    for (std::int64_t i = 0; i < local_batch; ++i)
      slice.push_back((static_cast<std::int64_t>(stream) * local_batch + i) %
                      loader_->train_samples());
    streams_[stream]->worker->start([this, &own = *streams_[stream], stream, repeat, slice] {
      own.times = {};
      own.replica->begin_step(/*halves=*/false, [](int) {});
      auto now = Clock::now();
      RandomStream random({options_.seed, kMeasuringDraws, static_cast<std::uint64_t>(repeat),
                           static_cast<std::uint64_t>(stream)});
      const Batch batch = loader_->train(slice, random);
      own.times.data_s = seconds_since(now);
      now = Clock::now();
      const auto turn = blas_turn();
      own.replica->forward(batch, 1.0 / static_cast<double>(slice.size()), random);
      own.times.forward_s = seconds_since(now);
      now = Clock::now();
      own.replica->backward(0, /*last_pass=*/true);
      own.times.backward_s = seconds_since(now);
      own.replica->finish_step();
    });
  }
  FirstFailure failure;
  for (const auto& stream : streams_) failure.collect([&] { stream->worker->wait(); });
  failure.rethrow();
  StepTimes times;
  for (const auto& stream : streams_) {
    times.data_s = std::max(times.data_s, stream->times.data_s);
    times.forward_s = std::max(times.forward_s, stream->times.forward_s);
    times.backward_s = std::max(times.backward_s, stream->times.backward_s);
  }
  times.step_s = seconds_since(begin);
  return times;
}

// Of an optimizer of its own on a copy of the weights.
double TorchEngine::measure_update(int repeats) {
  const at::NoGradGuard no_grad;
  at::Tensor weights = weights_.clone(), gradient = at::zeros_like(weights_);
  const auto optimizer = make_flat_optimizer(options_.optimizer, weights, layout_,
                                             decaying(*prototype_, options_.optimizer.decay_all));
  std::vector<double> seconds;
  for (int i = 0; i <= repeats; ++i) {
    const auto begin = Clock::now();
    if (options_.clip_norm > 0) clip_to_norm(gradient, options_.clip_norm);
    optimizer->step(gradient, /*learning_rate=*/0, i + 1);
    if (i > 0) seconds.push_back(seconds_since(begin));
  }
  return median(std::move(seconds));
}

StepTimes TorchEngine::measure(std::int64_t local_batch, int streams, int repeats) {
  JABAS_ASSERT(local_batch >= 1 && repeats >= 1, "a pass to measure");
  use_one_thread();
  const int streams_before = static_cast<int>(streams_.size()), accum_steps = accum_steps_;
  std::vector<StepTimes> passes;
  FirstFailure failure;
  failure.collect([&] {
    configure(streams, 0, local_batch);
    for (int repeat = 0; repeat <= repeats; ++repeat) {
      const StepTimes times = measure_pass(local_batch, repeat);
      if (repeat > 0) passes.push_back(times);
    }
  });
  configure(streams_before, accum_steps, 0);
  failure.rethrow();
  std::sort(passes.begin(), passes.end(),
            [](const StepTimes& a, const StepTimes& b) { return a.step_s < b.step_s; });
  StepTimes typical = passes[static_cast<std::size_t>(repeats / 2)];
  if (streams == 1) typical.update_s = measure_update(repeats);
  return typical;
}

}  // namespace jabas
