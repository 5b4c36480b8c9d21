// Batches of texts (text_corpus.h) as numbers of bytes.
#pragma once

#include "elastic_runner/batch_loader.h"

namespace jabas {

std::unique_ptr<const BatchLoader> make_text_loader(const EngineOptions& options);

}  // namespace jabas
