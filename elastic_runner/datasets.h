// The image data sets a run can train on, in memory as bytes. No torch.
// Errors: InputError names file and reason; UsageError for an unknown name or a subset larger than
// the data set.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace jabas {

struct LabelledImages {
  std::int64_t count = 0;
  std::vector<std::uint8_t> pixels;  // count x rows x columns
  std::vector<std::uint8_t> labels;
};

struct Dataset {
  std::int64_t rows = 0, columns = 0, classes = 0;
  double mean = 0, deviation = 1;  // of the training pixels scaled to [0, 1]
  LabelledImages train, test;
};

// Reads and checks all files. data_dir "" = where Debian's package puts them; subset 0 = all, else
// the first ones.
Dataset load_dataset(const std::string& name, const std::string& data_dir, std::int64_t subset);

}  // namespace jabas
