// The models `resnet18`, `resnet34` and `resnet50` (He et al. 2016; names of the parameters as in
// torchvision, the stride of a bottleneck is that of its 3x3 convolution). `width` is the number of
// channels of the first stage. Images of up to 64 pixels a side get a 3x3 convolution as the stem,
// larger ones 7x7 with stride 2 and max-pooling. A block starts as what it passes on: its
// last BatchNorm has zero weights (Goyal et al. 2017), which large batches need.
#pragma once

#include "elastic_runner/models.h"

namespace jabas {

std::unique_ptr<Model> make_resnet(const EngineOptions& options, const DataShape& shape,
                                   at::ScalarType type);

}  // namespace jabas
