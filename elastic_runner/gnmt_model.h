// The model `gnmt`: an LSTM encoder and decoder with attention (after Wu et al. 2016). Encoder: one
// layer that reads in both directions, then layers in one; decoder: the first layer asks the
// attention (additive, Bahdanau et al. 2015) over the encoder's outputs, whose answer is an input
// of the other layers and of the output. Each table and layer is followed by dropout, layers from
// the third on add their input to their output.
#pragma once

#include "elastic_runner/models.h"

namespace jabas {

std::unique_ptr<Model> make_gnmt(const EngineOptions& options, const DataShape& shape,
                                 at::ScalarType type);

}  // namespace jabas
