// Every built-in model, small, on generated data of the kind that it reads.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "elastic_runner/iidp_engine.h"

namespace jabas::testing {

inline const std::vector<std::string> kSmallModels = {"cnn",
                                                      "mlp",
                                                      "mlp of numbers",
                                                      "resnet18",
                                                      "resnet18 of large images",
                                                      "resnet34",
                                                      "resnet50",
                                                      "vit",
                                                      "gpt",
                                                      "gnmt",
                                                      "dlrm",
                                                      "unet"};

inline EngineOptions small_model(const std::string& name, const std::string& precision) {
  EngineOptions options;
  options.model = name.substr(0, name.find(' '));
  options.precision = precision;
  options.bucket_bytes = 1 << 12;
  options.dataset = "synthetic";
  SyntheticOptions& data = options.synthetic;
  data.samples = 320;
  data.test_samples = 100;
  data.classes = 4;
  data.vocabulary = 8;
  if (name == "cnn" || name == "mlp") {
    data.sample_shape = {2, 9, 8};
  } else if (name == "mlp of numbers") {
    data.kind = "arrays";
    data.sample_shape = {3, 4};
    data.classes = 0;
  } else if (name == "resnet18 of large images") {
    data.sample_shape = {1, 65, 65};
    options.size.width = 2;
  } else if (name.starts_with("resnet")) {
    data.sample_shape = {3, 16, 16};
    options.size.width = name == "resnet18" ? 8 : 4;
  } else if (name == "vit") {
    data.sample_shape = {1, 8, 12};
    options.size = {2, 16, 2, 0.1, 4};
  } else if (name == "gpt") {
    data.sample_shape = {8};
    options.size = {2, 16, 2, 0.1};
  } else if (name == "gnmt") {
    data.sample_shape = {5, 4};
    options.size = {3, 8, 0, 0.1};
  } else if (name == "dlrm") {
    data.sample_shape = {4, 10, 20, 5};
    options.size = {1, 4};
  } else if (name == "unet") {
    data.sample_shape = {1, 8, 12};
    options.size = {2, 4};
  } else {
    throw std::invalid_argument("no small model " + name);
  }
  return options;
}

}  // namespace jabas::testing
