// Runs steps of real engines, ranks as threads of the test, on a small synthetic data set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "elastic_runner/iidp_engine.h"
#include "tests/elastic_runner/rank_threads.h"
#include "tests/elastic_runner/synthetic_mnist.h"
#include "tests/elastic_runner/synthetic_text.h"

namespace jabas::testing {

// How the virtual workers of a step are spread: (V, a) by rank. Its total may exceed the number of
// slices.
struct Share {
  int streams = 1, accum_steps = 0;
  int workers() const { return streams * (accum_steps + 1); }
};
using Placement = std::vector<Share>;

using Slices = std::vector<std::vector<std::int64_t>>;
using Tensors = std::map<std::string, std::vector<double>>;

inline Tensors copy_state(IidpEngine& engine) {
  Tensors tensors;
  for (const auto& tensor : engine.state()) {
    auto& values = tensors[tensor.name];
    const auto read = [&]<typename T>(T) {
      const T* data = static_cast<const T*>(tensor.data);
      values.assign(data, data + tensor.bytes / sizeof(T));
    };
    if (tensor.dtype == "F32") read(float{});
    if (tensor.dtype == "F64") read(double{});
    if (tensor.dtype == "I64") read(std::int64_t{});
  }
  return tensors;
}

// The largest max|a-b|/max|b| over all tensors.
inline double difference(const Tensors& a, const Tensors& b) {
  if (a.size() != b.size()) return INFINITY;
  double worst = 0;
  for (const auto& [name, reference] : b) {
    const auto& values = a.at(name);
    double difference = 0, largest = 1e-300;
    for (std::size_t i = 0; i < reference.size(); ++i) {
      difference = std::max(difference, std::abs(values[i] - reference[i]));
      largest = std::max(largest, std::abs(reference[i]));
      if (!std::isfinite(values[i])) return INFINITY;
    }
    worst = std::max(worst, difference / largest);
  }
  return worst;
}

// Consecutive samples in slices of the given sizes.
inline Slices consecutive(const std::vector<std::int64_t>& sizes, std::int64_t first = 0) {
  Slices slices;
  for (const auto size : sizes) {
    slices.emplace_back();
    for (std::int64_t i = 0; i < size; ++i) slices.back().push_back(first++);
  }
  return slices;
}

inline std::int64_t samples_of(const Slices& slices) {
  std::int64_t samples = 0;
  for (const auto& slice : slices) samples += static_cast<std::int64_t>(slice.size());
  return samples;
}

// The plan of one rank: its part of `slices`, empty ones behind the last.
inline StepPlan plan_for(const Placement& placement, int rank, const Slices& slices,
                         std::int64_t step) {
  StepPlan plan;
  plan.epoch = 1;
  plan.step = step;
  for (int before = 0; before < rank; ++before)
    plan.first_worker += placement[static_cast<std::size_t>(before)].workers();
  plan.slices.resize(static_cast<std::size_t>(placement[static_cast<std::size_t>(rank)].workers()));
  for (std::size_t i = 0; i < plan.slices.size(); ++i) {
    const auto worker = static_cast<std::size_t>(plan.first_worker) + i;
    if (worker < slices.size()) plan.slices[i] = slices[worker];
  }
  plan.step_samples = samples_of(slices);
  plan.learning_rate = 0.05;
  return plan;
}

struct EngineFixture {
  EngineOptions options(const std::string& model, const std::string& precision) const {
    EngineOptions result;
    result.model = model;
    result.precision = precision;
    result.data_dir = data.path();
    if (model == "gpt") {
      result.dataset = "text";
      result.data_dir = text.path();
      result.sequence_length = 16;
      result.size = {2, 16, 2, 0.1};
    }
    result.bucket_bytes = 1 << 16;
    return result;
  }
  std::unique_ptr<IidpEngine> engine(const EngineOptions& options, const Share& share) const {
    auto result = make_iidp_engine(options);
    result->configure(share.streams, share.accum_steps, 4);
    return result;
  }

  struct Result {
    std::vector<Tensors> states;  // by rank
    std::vector<std::vector<StepOutcome>> outcomes;
  };
  // Every rank of `placement` performs the steps; `adjust` may change each plan.
  Result train(const EngineOptions& options, const Placement& placement,
               const std::vector<Slices>& steps,
               const std::function<void(int rank, StepPlan&)>& adjust = {}) const {
    Result result;
    result.states.resize(placement.size());
    result.outcomes.resize(placement.size());
    run_ranks(static_cast<int>(placement.size()), [&](Communicator& communicator) {
      const auto rank = static_cast<std::size_t>(communicator.rank());
      const auto mine = engine(options, placement[rank]);
      for (std::size_t i = 0; i < steps.size(); ++i) {
        StepPlan plan =
            plan_for(placement, communicator.rank(), steps[i], static_cast<std::int64_t>(i) + 1);
        if (adjust) adjust(communicator.rank(), plan);
        result.outcomes[rank].push_back(mine->train_step(plan, communicator));
      }
      result.states[rank] = copy_state(*mine);
    });
    return result;
  }

  SyntheticMnist data;
  SyntheticText text;
};

// The world of one in tests that need no peers.
inline std::unique_ptr<Communicator> solo() {
  MemoryBlobs blobs(1);
  MemoryStore store(blobs, 0);
  return make_gloo_communicator(store, 0, 1, {});
}

}  // namespace jabas::testing
