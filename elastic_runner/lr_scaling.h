// The learning rate's factor for a global batch (shared design "model" 3).
// Pure.
#pragma once

#include <string>

namespace jabas {

// sqrt: √(B/B_min); linear: B/B_min; none: 1. Throws UsageError for another name.
double lr_factor(const std::string& scaling, double global_batch, double batch_min);

}  // namespace jabas
