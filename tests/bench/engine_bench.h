// The engine's goals, each measured beside what it is compared with. Every function prints rows of
// one table; `repetitions` are interleaved steps of both sides, medians are compared.
#pragma once

#include <memory>
#include <string>

#include "elastic_runner/iidp_engine.h"
#include "tests/elastic_runner/engine_fixture.h"

namespace jabas::bench {

// Data sets large enough for the batches of all benchmarks.
struct BenchData {
  EngineOptions options(const std::string& model) const;
  // A gpt with 25 million weights, 100 MB.
  EngineOptions large() const;

  const testing::SyntheticMnist images{640, 10};
  const testing::SyntheticText text{64 * 700};
};

// One rank alone, which performs steps of `streams` slices of `batch` samples.
class EngineSteps {
 public:
  EngineSteps(const EngineOptions& options, int streams, std::int64_t batch);
  StepOutcome step(bool measure = false);
  IidpEngine& engine() { return *engine_; }

 private:
  const int streams_;
  const std::int64_t batch_;
  const std::unique_ptr<IidpEngine> engine_;
  const std::unique_ptr<Communicator> communicator_ = testing::solo();
  std::int64_t steps_ = 0;
};

void bench_step(const BenchData& data, int repetitions);
void bench_streams(const BenchData& data, int repetitions);
void bench_overlap(const BenchData& data, int repetitions);
void bench_checkpoint(const BenchData& data, int repetitions);
void bench_measuring(const BenchData& data, int repetitions);
void bench_memory(const std::string& program);

// What bench_memory() runs in processes of its own: prints the growth of resident memory in bytes
// at its peak while steps run on `streams` streams, or in the hand-written loop with 0.
void print_memory_of(int streams);

}  // namespace jabas::bench
