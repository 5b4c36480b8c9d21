// Time of one optimizer step: flat buffers against torch::optim, in turns. See the script beside
// it.
#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "elastic_runner/flat_layout.h"
#include "elastic_runner/flat_optimizer.h"
#include "tests/bench/timing.h"

namespace {

using namespace jabas;
using bench::median;
using bench::seconds_of;

// Sizes of the parameters: of a ResNet-50 (25.6 million, most of them small), and of four wide
// layers.
std::vector<std::int64_t> resnet50() {
  std::vector<std::int64_t> counts = {64 * 3 * 49, 64, 64};
  std::int64_t input = 64;
  for (const auto& [width, blocks] : {std::pair{64, 3}, {128, 4}, {256, 6}, {512, 3}}) {
    for (int block = 0; block < blocks; ++block) {
      const std::int64_t output = 4 * width;
      for (const std::int64_t count :
           {input * width, std::int64_t{9} * width * width, width * output}) {
        const std::int64_t channels = count == width * output ? output : width;
        counts.insert(counts.end(), {count, channels, channels});
      }
      if (block == 0) counts.insert(counts.end(), {input * output, output, output});
      input = output;
    }
  }
  counts.insert(counts.end(), {2048 * 1000, 1000});
  return counts;
}
const std::vector<std::int64_t> kWide = {6'000'000, 1000, 6'000'000, 1000,
                                         6'000'000, 1000, 6'000'000, 1000};

std::unique_ptr<torch::optim::Optimizer> torch_optimizer(const std::string& name,
                                                         std::vector<torch::Tensor> parameters) {
  using namespace torch::optim;
  if (name == "sgd")
    return std::make_unique<SGD>(parameters, SGDOptions(0.01).momentum(0.9).weight_decay(1e-4));
  if (name == "adam") return std::make_unique<Adam>(parameters, AdamOptions().weight_decay(1e-4));
  return std::make_unique<AdamW>(parameters, AdamWOptions().weight_decay(1e-4));
}

void compare(const std::string& model, const std::vector<std::int64_t>& counts,
             const std::string& name, int repetitions) {
  const FlatLayout layout = make_flat_layout(counts, 4, 1 << 20);
  std::vector<torch::Tensor> parameters;
  for (const auto count : counts) {
    parameters.push_back(torch::randn({count}).requires_grad_(true));
    parameters.back().mutable_grad() = torch::randn({count});
  }
  torch::Tensor weights = torch::randn({layout.size});
  const torch::Tensor source = torch::randn({layout.size});
  OptimizerOptions options;
  options.name = name;
  options.weight_decay = 1e-4;
  const auto flat =
      make_flat_optimizer(options, weights, layout, std::vector<bool>(counts.size(), true));
  // torch::optim has no LAMB: AdamW stands beside it.
  const auto reference = torch_optimizer(name, parameters);
  std::vector<double> own, theirs;
  for (int i = 0; i < repetitions + 2; ++i) {
    torch::Tensor gradient = source.clone();
    const double a = 1e3 * seconds_of([&] { flat->step(gradient, 0.001, i + 1); });
    const double b = 1e3 * seconds_of([&] { reference->step(); });
    if (i < 2) continue;  // the first steps make the state
    own.push_back(a);
    theirs.push_back(b);
  }
  std::printf("%-9s %-6s flat %8.2f ms  torch::optim::%-5s %8.2f ms  ratio %.2f\n", model.c_str(),
              name.c_str(), median(own), name == "lamb" ? "AdamW" : name.c_str(), median(theirs),
              median(theirs) / median(own));
}

}  // namespace

int main(int count, char** arguments) {
  const int repetitions = count > 1 ? std::max(1, std::atoi(arguments[1])) : 11;
  at::set_num_threads(1);
  for (const auto& [model, counts] :
       {std::pair<std::string, std::vector<std::int64_t>>{"resnet50", resnet50()}, {"wide", kWide}})
    for (const char* name : {"sgd", "adam", "adamw", "lamb"})
      compare(model, counts, name, repetitions);
}
