// IidpEngine on LibTorch: the weights, the streams that share them, and the order of one step.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>

#include "allocator/error.h"
#include "elastic_runner/batch_loader.h"
#include "elastic_runner/blas_turn.h"
#include "elastic_runner/bucket_reducer.h"
#include "elastic_runner/flat_optimizer.h"
#include "elastic_runner/gradient_clipping.h"
#include "elastic_runner/iidp_engine.h"
#include "elastic_runner/models.h"
#include "elastic_runner/predictions.h"
#include "elastic_runner/read_ahead.h"
#include "elastic_runner/replica.h"
#include "elastic_runner/step_reduction.h"
#include "elastic_runner/stream_worker.h"
#include "elastic_runner/weights_epoch.h"

namespace jabas {
namespace {

using Clock = std::chrono::steady_clock;

// Separate these streams from each other, from those of the readers and of initial values.
constexpr std::uint64_t kTrainingDraws = 0x647261777321;
constexpr std::uint64_t kMeasuringDraws = 0x6d6561737572;  // of passes that are no training
constexpr std::int64_t kEvaluationBatch = 500;

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

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Intra-operation threads spin against the streams: 5 times slower on a busy machine. The setting
// is per thread.
void use_one_thread() { at::set_num_threads(1); }

void warn_if_streams_take_turns() {
  static const bool warned = [] {
    if (!blas_allows_concurrent_calls())
      std::fputs(
          "warning: the system's BLAS is OpenBLAS built sequential, which is not safe for "
          "concurrent streams: the "
          "streams of a worker take turns; install libopenblas0-pthread\n",
          stderr);
    return true;
  }();
  static_cast<void>(warned);
}

// The initial values of a new replica are freed as soon as it shares the weights, but the C library
// keeps them: as much as the weights for every stream.
void release_freed_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

at::ScalarType type_of(const std::string& precision) {
  if (precision == "fp32") return at::kFloat;
  if (precision == "fp64") return at::kDouble;
  throw UsageError("--precision=" + precision + ": accepted are fp32, fp64");
}

void check(const EngineOptions& options) {
  if (options.device != "cpu")
    throw UsageError("--device=" + options.device + ": this build has only cpu");
}

FlatLayout layout_of(Model& model, at::ScalarType type, std::int64_t bucket_bytes) {
  std::vector<std::int64_t> counts;
  for (const auto& parameter : model.parameters()) counts.push_back(parameter.tensor.numel());
  return make_flat_layout(counts, static_cast<std::int64_t>(c10::elementSize(type)), bucket_bytes);
}

// Norms and biases have one dimension.
std::vector<bool> decaying(Model& model, bool all) {
  std::vector<bool> decays;
  for (const auto& parameter : model.parameters())
    decays.push_back(all || parameter.tensor.dim() > 1);
  return decays;
}

class TorchEngine : public IidpEngine {
 public:
  explicit TorchEngine(const EngineOptions& options)
      : options_(options),
        type_(type_of(options.precision)),
        loader_(make_batch_loader(options, type_)),
        reader_(*loader_, options.seed, options.reading.readers),
        prototype_(make_model(options, loader_->shape(), type_)),
        layout_(layout_of(*prototype_, type_, options.bucket_bytes)),
        weights_(at::zeros({layout_.size}, type_)),
        optimizer_(make_flat_optimizer(options.optimizer, weights_, layout_,
                                       decaying(*prototype_, options.optimizer.decay_all))),
        reduction_(layout_, type_, prototype_->buffers()),
        reducer_(static_cast<int>(layout_.buckets.size()), use_one_thread) {
    use_one_thread();
    const at::NoGradGuard no_grad;
    auto& parameters = prototype_->parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      at::Tensor& parameter = parameters[i].tensor;
      at::Tensor place = flat_view(weights_, i);
      place.copy_(parameter);
      parameter.set_data(place);
    }
    configure(1, 0, 0);
  }

  std::int64_t train_samples() const override { return loader_->train_samples(); }
  bool has_batch_norm() const override { return !prototype_->buffers().empty(); }

  void configure(int streams, int accum_steps, std::int64_t) override {
    JABAS_ASSERT(streams >= 1 && accum_steps >= 0, "V and a");
    if (streams > 1) warn_if_streams_take_turns();
    accum_steps_ = accum_steps;
    streams_.resize(std::min(streams_.size(), static_cast<std::size_t>(streams)));
    if (streams_.size() >= static_cast<std::size_t>(streams)) return;
    while (streams_.size() < static_cast<std::size_t>(streams)) streams_.push_back(make_stream());
    release_freed_memory();
  }

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

at::Tensor TorchEngine::flat_view(const at::Tensor& flat, std::size_t parameter) const {
  const auto& slot = layout_.slots[parameter];
  return flat.narrow(0, slot.offset, slot.count)
      .view(prototype_->parameters()[parameter].tensor.sizes());
}

std::unique_ptr<TorchEngine::Stream> TorchEngine::make_stream() {
  auto stream = std::make_unique<Stream>();
  stream->worker = std::make_unique<StreamWorker>([this, &replica = stream->replica] {
    use_one_thread();
    replica = std::make_unique<Replica>(make_model(options_, loader_->shape(), type_), layout_,
                                        weights_, weights_epoch_);
  });
  return stream;
}

void TorchEngine::load_canonical_buffers(Model& model) const {
  const auto& canonical = prototype_->buffers();
  for (std::size_t i = 0; i < canonical.size(); ++i)
    model.buffers()[i].tensor.copy_(canonical[i].tensor);
}

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

std::vector<double> TorchEngine::bucket_bytes() const {
  std::vector<double> sizes;
  const auto element_bytes = static_cast<double>(c10::elementSize(type_));
  for (const auto& range : layout_.buckets)
    sizes.push_back(static_cast<double>(range.end - range.begin) * element_bytes);
  return sizes;
}

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
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
  return seconds[static_cast<std::size_t>(repeats / 2)];
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

// Every V-th chunk, beginning with `first`, on the stream's thread.
Evaluation TorchEngine::evaluate_chunks(Stream& stream,
                                        const std::vector<std::vector<std::int64_t>>& chunks,
                                        std::size_t first) {
  const at::NoGradGuard no_grad;
  Model& model = stream.replica->model();
  load_canonical_buffers(model);
  Evaluation sum;
  for (std::size_t chunk = first; chunk < chunks.size(); chunk += streams_.size()) {
    const Batch batch = loader_->test(chunks[chunk]);
    const auto turn = blas_turn();
    const Predictions predictions(model.forward(batch, nullptr), batch.labels, model.loss());
    sum.loss_sum += predictions.loss_sum().item<double>();
    sum.correct += predictions.correct();
    sum.count += predictions.labels();
    if (predictions.has_top5()) {
      sum.correct_top5 += predictions.correct_top5();
      sum.count_top5 += predictions.labels();
    }
  }
  return sum;
}

Evaluation TorchEngine::evaluate(int rank, int world_size) {
  std::vector<std::vector<std::int64_t>> chunks;
  for (std::int64_t sample = rank; sample < loader_->test_samples(); sample += world_size) {
    if (chunks.empty() || chunks.back().size() == kEvaluationBatch) chunks.emplace_back();
    chunks.back().push_back(sample);
  }
  std::vector<Evaluation> parts(streams_.size());
  for (std::size_t i = 0; i < streams_.size(); ++i)
    streams_[i]->worker->start([&, i] { parts[i] = evaluate_chunks(*streams_[i], chunks, i); });
  FirstFailure failure;
  for (const auto& stream : streams_) failure.collect([&] { stream->worker->wait(); });
  failure.rethrow();
  Evaluation sum;
  const auto kind = loader_->shape().kind;
  sum.is_text = kind == DataShape::Kind::kTokens || kind == DataShape::Kind::kPairs;
  for (const auto& part : parts) {
    sum.loss_sum += part.loss_sum;
    sum.correct += part.correct;
    sum.count += part.count;
    sum.correct_top5 += part.correct_top5;
    sum.count_top5 += part.count_top5;
  }
  return sum;
}

std::vector<StateTensor> TorchEngine::state() {
  std::vector<StateTensor> state;
  const auto add = [&](const std::string& name, const at::Tensor& tensor) {
    const auto type = tensor.scalar_type();
    const char* dtype = type == at::kDouble ? "F64" : type == at::kFloat ? "F32" : "I64";
    state.push_back({name, dtype, tensor.sizes().vec(), tensor.data_ptr(), tensor.nbytes()});
  };
  const auto& parameters = prototype_->parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    add("weight/" + parameters[i].name, flat_view(weights_, i));
  for (const auto& [name, flat] : optimizer_->state())
    for (std::size_t i = 0; i < parameters.size(); ++i)
      add(name + "/" + parameters[i].name, flat_view(flat, i));
  for (const auto& buffer : prototype_->buffers()) add("buffer/" + buffer.name, buffer.tensor);
  return state;
}

}  // namespace

std::unique_ptr<IidpEngine> make_iidp_engine(const EngineOptions& options) {
  check(options);
  return std::make_unique<TorchEngine>(options);
}

}  // namespace jabas
