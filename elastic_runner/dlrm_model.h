// The model `dlrm` (Naumov et al. 2019): numbers through a network, rows of tables, the inner
// products of every two of these vectors, and a network to one logit. `width` is the length of the
// vectors; the networks have `layers` hidden layers of eight times that, with ReLU.
#pragma once

#include "elastic_runner/models.h"

namespace jabas {

std::unique_ptr<Model> make_dlrm(const EngineOptions& options, const DataShape& shape,
                                 at::ScalarType type);

}  // namespace jabas
