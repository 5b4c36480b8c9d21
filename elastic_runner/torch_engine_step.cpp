#include <ATen/ATen.h>

#include <algorithm>

#include "allocator/error.h"
#include "elastic_runner/blas_turn.h"
#include "elastic_runner/gradient_clipping.h"
#include "elastic_runner/torch_engine.h"

namespace jabas {
namespace {

using Clock = EngineClock;

// Separates these streams from those of the readers, of measuring and of initial values.
constexpr std::uint64_t kTrainingDraws = 0x647261777321;

}  // namespace

bool TorchEngine::has_work(const StepPlan& plan, std::size_t stream) const {
  for (std::size_t index = stream; index < plan.slices.size(); index += streams_.size())
    if (!plan.slices[index].empty()) return true;
  return false;
}

// All passes of one stream, on its thread.
void TorchEngine::run_passes(const StepPlan& plan, std::size_t stream_index, std::size_t source) {
  Stream& stream = *streams_[stream_index];
  Replica& replica = *stream.replica;
  stream.times = {};
  replica.begin_step(plan.measure, [this](int bucket) { reducer_.arrive(bucket); });
  std::size_t last = stream_index;
  for (std::size_t index = stream_index; index < plan.slices.size(); index += streams_.size())
    if (!plan.slices[index].empty()) last = index;
  const double scale = 1.0 / static_cast<double>(plan.step_samples);
  double loss = 0;
  for (std::size_t index = stream_index; index <= last; index += streams_.size()) {
    const auto& slice = plan.slices[index];
    if (slice.empty()) continue;
    const std::int64_t virtual_worker = plan.first_worker + static_cast<std::int64_t>(index);
    auto begin = Clock::now();
    const Batch batch = reader_.take(plan, index);
    if (options_.on_read) options_.on_read(virtual_worker, slice);
    stream.times.data_s += seconds_since(begin);

    begin = Clock::now();  // streams that take turns also pay for their waiting
    const auto turn = blas_turn();
    // Only virtual worker 0 counts for the buffers; every other pass runs on whatever this
    // replica's contain.
    if (virtual_worker == 0) load_canonical_buffers(replica.model());
    RandomStream random({options_.seed, kTrainingDraws, static_cast<std::uint64_t>(plan.epoch),
                         static_cast<std::uint64_t>(plan.step),
                         static_cast<std::uint64_t>(virtual_worker)});
    loss += replica.forward(batch, scale, random);
    reduction_.set_loss(source, loss);
    if (virtual_worker == 0) reduction_.set_buffers(replica.model().buffers());
    stream.times.forward_s += seconds_since(begin);

    begin = Clock::now();
    replica.backward(plan.measure ? static_cast<int>(virtual_worker % 2) : 0, index == last);
    stream.times.backward_s += seconds_since(begin);
  }
  replica.finish_step();
}

StepOutcome TorchEngine::train_step(const StepPlan& plan, Communicator& communicator) {
  const auto begin = Clock::now();
  use_one_thread();
  JABAS_ASSERT(plan.step_samples > 0, "a step without samples");
  JABAS_ASSERT(plan.slices.size() == streams_.size() * static_cast<std::size_t>(accum_steps_ + 1),
               std::to_string(plan.slices.size()) + " slices for V=" +
                   std::to_string(streams_.size()) + " a=" + std::to_string(accum_steps_));
  std::vector<std::size_t> active;
  std::vector<Replica*> sources;
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    if (!has_work(plan, stream)) continue;
    active.push_back(stream);
    sources.push_back(streams_[stream]->replica.get());
  }
  std::int64_t even_samples = 0;
  for (std::size_t index = 0; index < plan.slices.size(); ++index)
    if ((plan.first_worker + static_cast<std::int64_t>(index)) % 2 == 0)
      even_samples += static_cast<std::int64_t>(plan.slices[index].size());
  reduction_.prepare(plan, sources, even_samples);
  reader_.begin_step(plan, streams_.size());

  const auto publish_last_after = begin + std::chrono::duration_cast<Clock::duration>(
                                              std::chrono::duration<double>(plan.min_compute_s));
  // One replica alone has nothing to add up and nobody to wait for.
  const bool alone = communicator.world_size() == 1 && active.size() == 1;
  reducer_.begin(
      static_cast<int>(active.size()),
      [&](int bucket) { reduction_.reduce(bucket, communicator, publish_last_after); },
      options_.overlap && !alone);
  for (std::size_t source = 0; source < active.size(); ++source) {
    streams_[active[source]]->worker->start([this, &plan, stream = active[source], source] {
      try {
        run_passes(plan, stream, source);
      } catch (...) {  // the communication thread must not wait for this stream
        reducer_.abandon();
        throw;
      }
    });
  }
  FirstFailure failure;
  for (const auto stream : active) failure.collect([&] { streams_[stream]->worker->wait(); });
  const auto computed = std::max(Clock::now(), publish_last_after);
  failure.collect([&] { reducer_.finish(); });
  failure.rethrow();

  StepOutcome outcome;
  outcome.times.exposed_all_reduce_s = std::max(0.0, seconds_since(computed));
  outcome.halves = reduction_.halves();  // of the gradient as it is, so before what follows
  const auto update_begin = Clock::now();
  at::Tensor& gradient = reduction_.gradient();
  if (options_.clip_norm > 0) outcome.gradient_norm = clip_to_norm(gradient, options_.clip_norm);
  weights_epoch_.advance();
  optimizer_->step(gradient, plan.learning_rate, plan.step);
  reduction_.commit_buffers();
  outcome.times.update_s = seconds_since(update_begin);
  outcome.loss = reduction_.loss();
  outcome.control = reduction_.control();
  outcome.overrun = plan.min_compute_s > 0 && reducer_.last_ready_at() > publish_last_after;
  for (const auto stream : active) {
    const StepTimes& times = streams_[stream]->times;
    outcome.times.data_s = std::max(outcome.times.data_s, times.data_s);
    outcome.times.forward_s = std::max(outcome.times.forward_s, times.forward_s);
    outcome.times.backward_s = std::max(outcome.times.backward_s, times.backward_s);
  }
  outcome.times.all_reduce_s = reduction_.all_reduce_s();
  outcome.buckets = reduction_.buckets();
  outcome.times.step_s = seconds_since(begin);
  return outcome;
}

}  // namespace jabas
