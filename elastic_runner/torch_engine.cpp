#include "elastic_runner/torch_engine.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <cstdio>

#include "allocator/error.h"
#include "elastic_runner/batch_loader.h"
#include "elastic_runner/blas_turn.h"

namespace jabas {
namespace {

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

}  // namespace

void use_one_thread() { at::set_num_threads(1); }

std::vector<bool> decaying(Model& model, bool all) {
  std::vector<bool> decays;
  for (const auto& parameter : model.parameters())
    decays.push_back(all || parameter.tensor.dim() > 1);
  return decays;
}

TorchEngine::TorchEngine(const EngineOptions& options)
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

void TorchEngine::configure(int streams, int accum_steps, std::int64_t) {
  JABAS_ASSERT(streams >= 1 && accum_steps >= 0, "V and a");
  if (streams > 1) warn_if_streams_take_turns();
  accum_steps_ = accum_steps;
  streams_.resize(std::min(streams_.size(), static_cast<std::size_t>(streams)));
  if (streams_.size() >= static_cast<std::size_t>(streams)) return;
  while (streams_.size() < static_cast<std::size_t>(streams)) streams_.push_back(make_stream());
  release_freed_memory();
}

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

std::vector<double> TorchEngine::bucket_bytes() const {
  std::vector<double> sizes;
  const auto element_bytes = static_cast<double>(c10::elementSize(type_));
  for (const auto& range : layout_.buckets)
    sizes.push_back(static_cast<double>(range.end - range.begin) * element_bytes);
  return sizes;
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

std::unique_ptr<IidpEngine> make_iidp_engine(const EngineOptions& options) {
  check(options);
  return std::make_unique<TorchEngine>(options);
}

}  // namespace jabas
