#include "elastic_runner/torchscript_model.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <cstdio>
#include <map>
#include <mutex>
#include <optional>

#include "allocator/error.h"
#include "elastic_runner/pass_random.h"
#include "elastic_runner/torchscript_checks.h"

namespace jabas {
namespace {

// LibTorch's messages go on with a backtrace or the source; the reason is in the first line, or for
// errors of the interpreter in the last.
std::string reason_of(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  std::string text = torch_error ? torch_error->what_without_backtrace() : error.what();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const bool interpreted = text.find("TorchScript interpreter") != std::string::npos;
  const auto line_end = interpreted ? text.rfind('\n') : text.find('\n');
  if (line_end == std::string::npos) return text;
  return interpreted ? text.substr(line_end + 1) : text.substr(0, line_end);
}

Loss loss_of(const std::string& name, const DataShape& shape) {
  if (name == "cross_entropy") return Loss::kCrossEntropy;
  if (name == "mse") return Loss::kMeanSquare;
  if (name == "bce") return Loss::kBinary;
  if (name == "own") return Loss::kOwn;
  if (!name.empty())
    throw UsageError("--loss=" + name + ": accepted are cross_entropy, mse, bce and own");
  if (shape.kind == DataShape::Kind::kClicks) return Loss::kBinary;
  const bool numbers = shape.kind == DataShape::Kind::kArrays && shape.classes == 0;
  return numbers ? Loss::kMeanSquare : Loss::kCrossEntropy;
}

// Tied parameters come from the file as tensors of their own on one storage. They become one tensor
// again, since each is to be trained once.
void tie_parameters(torch::jit::Module& module) {
  std::map<const void*, at::Tensor> seen;
  for (torch::jit::Module owner : module.modules()) {
    for (const auto& attribute : owner.named_parameters(/*recurse=*/false)) {
      const auto [place, fresh] = seen.emplace(attribute.value.data_ptr(), attribute.value);
      if (!fresh && !place->second.is_same(attribute.value) &&
          place->second.sizes() == attribute.value.sizes())
        owner.setattr(attribute.name, place->second);
    }
  }
}

// As Python's float() and double(): integers stay (Module::to would change them, too).
void convert(const torch::jit::Module& module, at::ScalarType type) {
  const at::NoGradGuard no_grad;
  const auto change = [type](at::Tensor tensor) {
    if (tensor.is_floating_point()) tensor.set_data(tensor.to(type));
  };
  for (const at::Tensor& parameter : module.parameters()) change(parameter);
  for (const at::Tensor& buffer : module.buffers()) change(buffer);
}

class TorchScriptModel : public Model {
 public:
  TorchScriptModel(const EngineOptions& options, const DataShape& shape, at::ScalarType type)
      : path_(options.model), loss_(loss_of(options.loss, shape)) {
    try {
      module_ = torch::jit::load(path_, at::kCPU);
    } catch (const std::exception& error) {
      throw InputError(path_ + ": not a TorchScript file: " + reason_of(error));
    }
    const std::size_t inputs = input_tensors(shape) + (loss_ == Loss::kOwn ? 1 : 0);
    if (const auto reason = why_not_trainable(module_, inputs); !reason.empty())
      throw InputError(path_ + ": cannot be trained: " + reason);
    warn_once_if_ignoring_evaluation();
    tie_parameters(module_);
    convert(module_, type);
    module_.train();
    collect();
  }

  at::Tensor forward(const Batch& batch, RandomStream* stream) override {
    set_training(stream != nullptr);
    std::vector<c10::IValue> inputs(batch.inputs.begin(), batch.inputs.end());
    if (loss_ == Loss::kOwn) inputs.emplace_back(batch.labels);
    std::optional<PassRandom> random;
    if (stream != nullptr) random.emplace(*stream);
    try {
      return module_.forward(std::move(inputs)).toTensor();
    } catch (const std::exception& error) {
      throw InputError(path_ + ": its forward failed: " + reason_of(error));
    }
  }
  Loss loss() const override { return loss_; }
  std::vector<NamedTensor>& parameters() override { return parameters_; }
  std::vector<NamedTensor>& buffers() override { return buffers_; }

 private:
  static std::size_t input_tensors(const DataShape& shape) {
    const bool two =
        shape.kind == DataShape::Kind::kPairs || shape.kind == DataShape::Kind::kClicks;
    return two ? 2 : 1;
  }

  // Loaded parameters that Python had excluded from training stay as they are: no gradient, no
  // slot.
  void collect() {
    std::map<const void*, bool> seen;
    for (const auto& parameter : module_.named_parameters()) {
      at::Tensor tensor = parameter.value;
      if (!tensor.requires_grad() || !seen.emplace(tensor.unsafeGetTensorImpl(), true).second)
        continue;
      parameters_.push_back({parameter.name, tensor});
    }
    if (parameters_.empty())
      throw InputError(path_ + ": cannot be trained: none of its parameters requires a gradient");
    for (const auto& buffer : module_.named_buffers())
      if (buffer.value.is_floating_point() || buffer.value.scalar_type() == at::kLong)
        buffers_.push_back({buffer.name, buffer.value});
  }

  void warn_once_if_ignoring_evaluation() const {
    static std::once_flag once;  // not for every replica
    std::call_once(once, [this] {
      if (ignores_evaluation_mode(module_))
        std::fprintf(stderr,
                     "warning: %s: was traced in training mode: dropout and BatchNorm stay in that "
                     "mode in evaluation; torch.jit.script follows the mode\n",
                     path_.c_str());
    });
  }

  void set_training(bool training) {
    if (module_.is_training() != training) module_.train(training);
  }

  const std::string path_;
  const Loss loss_;
  torch::jit::Module module_;
  std::vector<NamedTensor> parameters_, buffers_;
};

}  // namespace

std::unique_ptr<Model> make_torchscript_model(const EngineOptions& options, const DataShape& shape,
                                              at::ScalarType type) {
  return std::make_unique<TorchScriptModel>(options, shape, type);
}

}  // namespace jabas
