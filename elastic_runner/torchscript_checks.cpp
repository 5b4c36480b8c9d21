#include "elastic_runner/torchscript_checks.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <vector>

namespace jabas {
namespace {

// Layers that behave differently in training, by what their `training` input is.
struct ModeLayers {
  bool always_training = false, always_evaluating = false, following = false;
};

void look(const torch::jit::Block* block, ModeLayers& layers) {
  for (const torch::jit::Node* node : block->nodes()) {
    for (const torch::jit::Block* inner : node->blocks()) look(inner, layers);
    const auto* schema = node->maybeSchema();
    if (schema == nullptr) continue;
    for (const char* name : {"train", "training"}) {
      const auto index = schema->argumentIndexWithName(name);
      if (!index) continue;
      const auto value = torch::jit::toIValue(node->input(static_cast<std::size_t>(*index)));
      if (!value || !value->isBool())
        layers.following = true;
      else if (value->toBool())
        layers.always_training = true;
      else
        layers.always_evaluating = true;
    }
  }
}

ModeLayers mode_layers(const torch::jit::Module& module) {
  const auto graph = module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  ModeLayers layers;
  look(graph->block(), layers);
  return layers;
}

}  // namespace

std::string why_not_trainable(const torch::jit::Module& module, std::size_t inputs) {
  if (!module.find_method("forward")) return "it has no method forward";
  bool parameters = false;
  for (const at::Tensor& parameter : module.parameters())
    parameters = parameters || parameter.is_floating_point();
  if (!parameters)
    return "it has no parameters: it was frozen (torch.jit.freeze, optimize_for_inference); save "
           "the "
           "module before that";
  const ModeLayers layers = mode_layers(module);
  if (layers.always_evaluating && !layers.following && !layers.always_training)
    return "it was traced in evaluation mode, so that dropout and BatchNorm would not train; call "
           "train() before torch.jit.trace, or use torch.jit.script";
  std::size_t needed = 0, most = 0;
  const auto& arguments = module.get_method("forward").function().getSchema().arguments();
  for (std::size_t i = 1; i < arguments.size(); ++i) {  // the first is the module
    ++most;
    if (!arguments[i].default_value()) ++needed;
  }
  if (inputs < needed || inputs > most) {
    const std::string takes = needed == most
                                  ? std::to_string(needed)
                                  : std::to_string(needed) + " to " + std::to_string(most);
    return "its forward takes " + takes + (takes == "1" ? " tensor" : " tensors") +
           ", this training gives it " + std::to_string(inputs);
  }
  return "";
}

bool ignores_evaluation_mode(const torch::jit::Module& module) {
  const ModeLayers layers = mode_layers(module);
  return layers.always_training && !layers.following;
}

}  // namespace jabas
