#include "elastic_runner/synthetic_data.h"

#include <algorithm>

#include "allocator/error.h"
#include "elastic_runner/model_catalogue.h"
#include "elastic_runner/sample_subset.h"

namespace jabas {
namespace {

using Kind = DataShape::Kind;

constexpr std::int64_t kLargestSize = 1 << 20;

Kind kind_of(const EngineOptions& options) {
  const std::string& name = options.synthetic.kind;
  if (const ModelFacts* model = find_built_in_model(options.model); name.empty() && model)
    return model->reads.front();
  std::string accepted;
  for (const Kind kind : all_kinds()) {
    if (name == kind_name(kind)) return kind;
    accepted += (accepted.empty() ? "" : ", ") + kind_name(kind);
  }
  throw UsageError("synthetic data: " +
                   (name.empty() ? "what model " + options.model + " reads is not known"
                                 : "'" + name + "' is no kind of samples") +
                   "; accepted are " + accepted);
}

// The sizes of a sample, of which the kind needs at least and at most so many.
std::vector<std::int64_t> sizes_of(const SyntheticOptions& options, Kind kind, std::size_t least,
                                   std::size_t most, std::vector<std::int64_t> otherwise,
                                   const std::string& accepted) {
  const auto& sizes = options.sample_shape.empty() ? otherwise : options.sample_shape;
  const bool good = std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) {
    return size >= 1 && size <= kLargestSize;
  });
  if (good && sizes.size() >= least && sizes.size() <= most) return sizes;
  std::string given;
  for (const std::int64_t size : sizes) given += (given.empty() ? "" : ",") + std::to_string(size);
  throw UsageError("synthetic " + kind_name(kind) + " of sizes " + given + ": accepted are " +
                   accepted + ", each in 1.." + std::to_string(kLargestSize));
}

void check_count(Kind kind, const char* what, std::int64_t value, std::int64_t least) {
  if (value < least || value > kLargestSize)
    throw UsageError("synthetic " + kind_name(kind) + " with " + std::to_string(value) + " " +
                     what + ": accepted are " + std::to_string(least) + ".." +
                     std::to_string(kLargestSize));
}

}  // namespace

DataShape synthetic_shape(const EngineOptions& options) {
  const SyntheticOptions& wanted = options.synthetic;
  DataShape shape;
  shape.kind = kind_of(options);
  switch (shape.kind) {
    case Kind::kImages:
    case Kind::kMasks: {
      const auto sizes =
          sizes_of(wanted, shape.kind, 3, 3, {1, 16, 16}, "channels, rows and columns");
      shape.channels = sizes[0];
      shape.rows = sizes[1];
      shape.columns = sizes[2];
      shape.classes = wanted.classes;
      check_count(shape.kind, "classes", shape.classes, 2);
      break;
    }
    case Kind::kTokens:
    case Kind::kPairs: {
      const bool pairs = shape.kind == Kind::kPairs;
      const auto sizes = pairs ? sizes_of(wanted, shape.kind, 2, 2, {8, 8},
                                          "the lengths of the source and of the target")
                               : sizes_of(wanted, shape.kind, 1, 1, {16}, "one length");
      shape.length = sizes.back();
      if (pairs) shape.source_length = sizes.front();
      shape.vocabulary = wanted.vocabulary;
      check_count(shape.kind, "tokens", shape.vocabulary, 2);
      break;
    }
    case Kind::kClicks: {
      const auto sizes = sizes_of(wanted, shape.kind, 2, 1000, {8, 50, 50, 50, 50},
                                  "the count of numbers and the rows of each table");
      shape.dense = sizes.front();
      shape.table_rows.assign(sizes.begin() + 1, sizes.end());
      break;
    }
    case Kind::kArrays:
      shape.sample = sizes_of(wanted, shape.kind, 1, 8, {16}, "1..8 sizes");
      shape.classes = wanted.classes;
      if (shape.classes == 0) shape.target = {1};
      if (shape.classes != 0) check_count(shape.kind, "classes", shape.classes, 2);
      break;
  }
  check_count(shape.kind, "samples", wanted.samples, 1);
  check_count(shape.kind, "test samples", wanted.test_samples, 1);
  return shape;
}

std::int64_t synthetic_train_samples(const EngineOptions& options) {
  return subset_of(options.synthetic.samples, options.subset);
}

}  // namespace jabas
