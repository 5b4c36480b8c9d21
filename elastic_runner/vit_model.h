// The model `vit`: a transformer over the patches of an image (Dosovitskiy et al. 2021), with
// learned positions; the class is read from a token of its own. Rows and columns are multiples of
// the patch size.
#pragma once

#include "elastic_runner/models.h"

namespace jabas {

std::unique_ptr<Model> make_vit(const EngineOptions& options, const DataShape& shape,
                                at::ScalarType type);

}  // namespace jabas
