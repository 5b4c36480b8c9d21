// What the engine needs to know of a training.
// Pure.
#pragma once

#include "allocator/training_spec.h"
#include "elastic_runner/iidp_engine.h"

namespace jabas {

ModelSize model_size(const TrainingSpec& spec);
// Without the caller's on_read.
EngineOptions engine_options(const TrainingSpec& spec);

}  // namespace jabas
