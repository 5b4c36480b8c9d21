// Whether a TorchScript module can be trained: by its graph, before anything is run.
#pragma once

#include <cstddef>
#include <string>

namespace torch::jit {
struct Module;
}

namespace jabas {

// "" = yes; else the reason. `inputs`: tensors that forward will be given.
std::string why_not_trainable(const torch::jit::Module& module, std::size_t inputs);

// Its layers stay in training mode while it is evaluated (a trace in training mode).
bool ignores_evaluation_mode(const torch::jit::Module& module);

}  // namespace jabas
