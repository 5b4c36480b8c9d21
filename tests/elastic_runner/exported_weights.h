// Exported weights read back without an engine, and their largest relative difference.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "elastic_runner/state_file.h"

namespace jabas::testing {

using Weights = std::map<std::string, std::vector<double>>;

// Every float tensor of the file by name.
inline Weights read_weights(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::uint64_t size = 0;
  file.read(reinterpret_cast<char*>(&size), sizeof size);
  std::string header(size, '\0');
  file.read(header.data(), std::streamsize(size));
  std::map<std::string, std::vector<char>> memory;
  std::vector<StateTensor> tensors;
  const auto entries = nlohmann::json::parse(header);
  for (const auto& [name, entry] : entries.items()) {
    if (name == "__metadata__") continue;
    const auto begin = entry.at("data_offsets").at(0).get<std::size_t>();
    auto& bytes = memory[name];
    bytes.resize(entry.at("data_offsets").at(1).get<std::size_t>() - begin);
    tensors.push_back({name, entry.at("dtype").get<std::string>(),
                       entry.at("shape").get<std::vector<std::int64_t>>(), bytes.data(),
                       bytes.size()});
  }
  read_safetensors(path, tensors);
  Weights weights;
  for (const auto& tensor : tensors) {
    auto& values = weights[tensor.name];
    const auto copy = [&]<typename T>(T) {
      for (std::size_t i = 0; i < tensor.bytes / sizeof(T); ++i) {
        T value;
        std::memcpy(&value, static_cast<const char*>(tensor.data) + i * sizeof(T), sizeof(T));
        values.push_back(double(value));
      }
    };
    if (tensor.dtype == "F32") copy(float{});
    if (tensor.dtype == "F64") copy(double{});
  }
  return weights;
}

// max|Δ| / max|w| of the worst tensor; infinite if names or sizes differ.
inline double largest_difference(const Weights& a, const Weights& b) {
  if (a.size() != b.size()) return INFINITY;
  double worst = 0;
  for (const auto& [name, values] : a) {
    const auto other = b.find(name);
    if (other == b.end() || other->second.size() != values.size()) return INFINITY;
    double difference = 0, largest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      difference = std::max(difference, std::abs(values[i] - other->second[i]));
      largest = std::max(largest, std::abs(values[i]));
    }
    if (difference > 0) worst = std::max(worst, difference / largest);
  }
  return worst;
}

}  // namespace jabas::testing
