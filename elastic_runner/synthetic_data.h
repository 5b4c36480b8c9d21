// Generated data sets: what was asked for, checked and completed. Pure, without torch.
//
// `sample_shape` by kind, and what stands for an empty one:
//   images, masks  channels, rows, columns (1, 16, 16)
//   tokens         length (16)
//   pairs          length of the source, of the target (8, 8)
//   clicks         numbers, then the rows of each table (8, 50, 50, 50, 50)
//   arrays         any sizes (16)
// Errors: UsageError, one line: what, which value, what is accepted.
#pragma once

#include "elastic_runner/data_shape.h"
#include "elastic_runner/iidp_engine.h"

namespace jabas {

DataShape synthetic_shape(const EngineOptions& options);
std::int64_t synthetic_train_samples(const EngineOptions& options);

}  // namespace jabas
