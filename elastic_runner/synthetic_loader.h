// Batches of generated samples (synthetic_data.h): each a function of its index alone, the same in
// every process, and learnable.
//
// images  a wave for each class, with noise       masks   a rectangle of a class on class 0
// tokens  a rule from a token to the next, sometimes broken
// pairs   the target is the source, token by token renamed
// clicks  1 where a weighted sum of numbers and rows is positive
// arrays  a pattern for each class, with noise; without classes the weighted sum of the numbers
#pragma once

#include "elastic_runner/batch_loader.h"

namespace jabas {

std::unique_ptr<const BatchLoader> make_synthetic_loader(const EngineOptions& options,
                                                         at::ScalarType type);

}  // namespace jabas
