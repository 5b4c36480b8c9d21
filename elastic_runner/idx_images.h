// mnist and fashion-mnist: IDX files (idx_file.h), held in memory.
// Errors: InputError names file and reason; UsageError for a subset larger than the data set.
#pragma once

#include "elastic_runner/bad_samples.h"
#include "elastic_runner/iidp_engine.h"
#include "elastic_runner/image_set.h"

namespace jabas {

// data_dir "": where Debian's package puts fashion-mnist.
ImageSet open_idx_images(const EngineOptions& options, BadSamples& bad);

}  // namespace jabas
