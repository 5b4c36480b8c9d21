#include "elastic_runner/data_shape.h"

#include "allocator/error.h"

namespace jabas {
namespace {

std::string product(const std::vector<std::int64_t>& sizes) {
  std::string text;
  for (const std::int64_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

}  // namespace

std::string kind_name(DataShape::Kind kind) {
  switch (kind) {
    case DataShape::Kind::kImages:
      return "images";
    case DataShape::Kind::kMasks:
      return "masks";
    case DataShape::Kind::kTokens:
      return "tokens";
    case DataShape::Kind::kPairs:
      return "pairs";
    case DataShape::Kind::kClicks:
      return "clicks";
    case DataShape::Kind::kArrays:
      return "arrays";
  }
  JABAS_ASSERT(false, "kind of data");
}

const std::vector<DataShape::Kind>& all_kinds() {
  static const std::vector<DataShape::Kind> kinds = {
      DataShape::Kind::kImages, DataShape::Kind::kMasks,  DataShape::Kind::kTokens,
      DataShape::Kind::kPairs,  DataShape::Kind::kClicks, DataShape::Kind::kArrays};
  return kinds;
}

std::string to_text(const DataShape& shape) {
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const std::string image =
      product({shape.channels, shape.rows, shape.columns}) + " (channels x rows x columns)";
  switch (shape.kind) {
    case DataShape::Kind::kImages:
      return "images of " + image + " in " + number(shape.classes) + " classes";
    case DataShape::Kind::kMasks:
      return "images of " + image + " with one of " + number(shape.classes) +
             " classes for each pixel";
    case DataShape::Kind::kTokens:
      return "sequences of " + number(shape.length) + " of " + number(shape.vocabulary) + " tokens";
    case DataShape::Kind::kPairs:
      return "pairs of sequences of " + number(shape.source_length) + " and " +
             number(shape.length) + " of " + number(shape.vocabulary) + " tokens";
    case DataShape::Kind::kClicks:
      return number(shape.dense) + " numbers and rows of " +
             std::to_string(shape.table_rows.size()) + " tables with 0 or 1";
    case DataShape::Kind::kArrays:
      return "arrays of " + product(shape.sample) +
             (shape.classes > 0 ? " in " + number(shape.classes) + " classes"
                                : " with " + product(shape.target) + " numbers");
  }
  JABAS_ASSERT(false, "kind of data");
}

}  // namespace jabas
