// What the samples of a data set look like, so that a model can be built for them. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace jabas {

struct DataShape {
  enum class Kind {
    kImages,  // inputs {[n, channels, rows, columns]}, labels [n]: a class each
    kMasks,   // inputs {[n, channels, rows, columns]}, labels [n, rows, columns]: a class per pixel
    kTokens,  // inputs {[n, length]}, labels [n, length]: the token that follows each
    kPairs,   // inputs {source [n, source_length], target [n, length]}, labels as for kTokens
    kClicks,  // inputs {numbers [n, dense], rows of the tables [n, tables]}, labels [n]: 0 or 1
    kArrays,  // inputs {[n, ...sample]}, labels [n]: a class, or (classes 0) numbers [n, ...target]
  };
  Kind kind = Kind::kImages;
  std::int64_t channels = 0, rows = 0, columns = 0;
  std::int64_t length = 0, source_length = 0, vocabulary = 0;
  std::int64_t dense = 0;
  std::vector<std::int64_t> table_rows;
  std::vector<std::int64_t> sample, target;
  std::int64_t classes = 0;
};

// "images", "masks", "tokens", "pairs", "clicks" or "arrays".
std::string kind_name(DataShape::Kind kind);
const std::vector<DataShape::Kind>& all_kinds();

// For error lines, as in "images of 3x32x32 (channels x rows x columns) in 10 classes".
std::string to_text(const DataShape& shape);

}  // namespace jabas
