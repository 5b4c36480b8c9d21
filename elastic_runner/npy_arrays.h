// npy: train_inputs.npy, train_labels.npy, test_inputs.npy and test_labels.npy. The first dimension
// counts samples. Labels of whole numbers are classes, 0 and up; of others, numbers.
// No torch.   Threads: const, safe to share.
// Errors: InputError names file and reason; UsageError for a subset larger than the data set.
#pragma once

#include <optional>
#include <vector>

#include "elastic_runner/bad_samples.h"
#include "elastic_runner/data_shape.h"
#include "elastic_runner/iidp_engine.h"
#include "elastic_runner/npy_file.h"

namespace jabas {

class NpyArrays {
 public:
  struct Split {
    NpyFile inputs, labels;
    std::vector<std::int64_t> rows;  // of the usable samples
  };

  NpyArrays(const EngineOptions& options, BadSamples& bad);

  // Inputs of four dimensions are images if the labels are one class each, masks if they are one
  // for every pixel; everything else are arrays.
  DataShape shape() const;
  const Split& train() const { return train_; }
  const Split& test() const { return test_; }

 private:
  Split open(const std::string& prefix, BadSamples& bad);

  std::int64_t classes_ = 0;  // 0 = labels are numbers
  Split train_, test_;
};

}  // namespace jabas
