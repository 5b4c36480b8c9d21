// A model from a TorchScript file (torch.jit.script, or torch.jit.trace in training mode), trained
// here: its parameters, in the order Python's named_parameters() gives them, and those of its
// buffers that change in training (floating point, int64).
//
// Every replica loads the file for itself, so it must stay as it is while the run lasts.
// Dropout and the like draw from the stream of the pass (pass_random.h).
// Errors: InputError names the file and why it cannot be trained: not readable, frozen or without
//         parameters, traced in evaluation mode, a forward that takes other inputs; also when
//         forward itself fails.
#pragma once

#include "elastic_runner/models.h"

namespace jabas {

// options.model is the path; options.loss as `--loss` takes it, "" = what suits the data.
std::unique_ptr<Model> make_torchscript_model(const EngineOptions& options, const DataShape& shape,
                                              at::ScalarType type);

}  // namespace jabas
