// Batches of token sequences: bytes of texts (text_corpus.h) or files of tokens (token_files.h).
#pragma once

#include "elastic_runner/batch_loader.h"

namespace jabas {

std::unique_ptr<const BatchLoader> make_text_loader(const EngineOptions& options);
std::unique_ptr<const BatchLoader> make_token_loader(const EngineOptions& options);

}  // namespace jabas
