// The data sets a run can train on, by name: opened and counted. No torch.
// Errors: InputError names file and reason; UsageError for an unknown name or a subset larger than
// the data set.
#pragma once

#include "elastic_runner/bad_samples.h"
#include "elastic_runner/iidp_engine.h"
#include "elastic_runner/image_set.h"

namespace jabas {

// Images with a class each. Reads and checks what can be checked without decoding.
ImageSet open_images(const EngineOptions& options, BadSamples& bad);

}  // namespace jabas
