// The engine's data and its other goals: communication behind backward, checkpoints, memory.
#include <ATen/ATen.h>
#include <torch/torch.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "elastic_runner/checkpoint_writer.h"
#include "tests/bench/engine_bench.h"
#include "tests/bench/hand_written_loop.h"
#include "tests/bench/timing.h"
#include "tests/elastic_runner/delayed_communicator.h"

namespace jabas::bench {

using namespace testing;

EngineOptions BenchData::options(const std::string& model) const {
  EngineOptions options;
  options.model = model;
  options.data_dir = images.path();
  if (model == "gpt") {
    options.dataset = "text";
    options.data_dir = text.path();
    options.size = {4, 128, 4, 0.1};  // the defaults, which the hand-written model is not told
  }
  return options;
}

EngineOptions BenchData::large() const {
  EngineOptions options = this->options("gpt");
  options.size = {8, 512, 8, 0};
  return options;
}

EngineSteps::EngineSteps(const EngineOptions& options, int streams, std::int64_t batch)
    : streams_(streams), batch_(batch), engine_(make_iidp_engine(options)) {
  engine_->configure(streams, 0, batch);
}

StepOutcome EngineSteps::step(bool measure) {
  const std::int64_t samples = streams_ * batch_;
  const std::int64_t first = steps_ * samples % (engine_->train_samples() - samples);
  StepPlan plan = plan_for(
      {{streams_, 0}}, 0,
      consecutive(std::vector<std::int64_t>(static_cast<std::size_t>(streams_), batch_), first),
      ++steps_);
  plan.measure = measure;
  return engine_->train_step(plan, *communicator_);
}

// Two ranks as threads, Gloo between them, 8 ms more for every bucket.
void bench_overlap(const BenchData& data, int repetitions) {
  constexpr std::chrono::milliseconds kLatency{8};
  constexpr std::int64_t kBatch = 16;
  const Placement placement = {{1, 0}, {1, 0}};
  std::vector<double> with, without;
  run_ranks(2, [&](Communicator& communicator) {
    DelayedCommunicator slow(communicator, kLatency);
    EngineOptions options = data.options("gpt");
    const auto overlapping = make_iidp_engine(options);
    options.overlap = false;
    const auto waiting = make_iidp_engine(options);
    for (int i = 0; i < repetitions + 3; ++i) {
      for (IidpEngine* engine : {overlapping.get(), waiting.get()}) {
        const StepPlan plan = plan_for(placement, communicator.rank(),
                                       consecutive({kBatch, kBatch}, i % 8 * 2 * kBatch), i + 1);
        const double exposed = engine->train_step(plan, slow).times.exposed_all_reduce_s;
        if (communicator.rank() == 0 && i >= 3)
          (engine == waiting.get() ? without : with).push_back(exposed);
      }
    }
  });
  print_row("exposed all-reduce, overlap beside none, gpt", milliseconds(median(with)),
            milliseconds(median(without)), median(with) / median(without), "<= 0.5");
}

void bench_checkpoint(const BenchData& data, int repetitions) {
  EngineOptions options = data.large();
  options.optimizer.name = "adamw";
  EngineSteps own(options, 1, 1);
  HandWrittenLoop other(options, 1);
  own.step();
  other.step();
  const TempDir dir;
  CheckpointWriter writer(CheckpointStore((dir / "own").string(), 2), "bench");
  std::vector<double> snapshots, saves;
  for (int i = 0; i < repetitions; ++i) {
    snapshots.push_back(seconds_of([&] { writer.snapshot(own.engine().state(), RunState{}); }));
    if (!writer.finish(std::chrono::seconds(120))) throw std::runtime_error("checkpoint failed");
    saves.push_back(seconds_of([&] {
      torch::save(other.shared_model(), (dir / "model.pt").string());
      torch::save(other.optimizer(), (dir / "optimizer.pt").string());
    }));
  }
  print_row("checkpoint, first, 100 MB and adamw", milliseconds(snapshots[0]),
            milliseconds(saves[0]), snapshots[0] / saves[0], "");
  print_row("checkpoint, later ones, beside torch::save", milliseconds(median(snapshots)),
            milliseconds(median(saves)), median(snapshots) / median(saves), "<= 0.2");
}

namespace {

std::int64_t memory_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key + ":")) return std::atoll(line.c_str() + key.size() + 1) * 1024;
  throw std::runtime_error("/proc/self/status has no " + key);
}

std::int64_t run_memory_of(const std::string& program, int streams) {
  const std::string command = "'" + program + "' memory-of " + std::to_string(streams);
  std::FILE* pipe = ::popen(command.c_str(), "r");
  long long bytes = 0;
  const bool read = pipe != nullptr && std::fscanf(pipe, "%lld", &bytes) == 1;
  if (pipe == nullptr || ::pclose(pipe) != 0 || !read)
    throw std::runtime_error("failed: " + command);
  return bytes;
}

}  // namespace

void print_memory_of(int streams) {
  const BenchData data;
  // Libraries allocate what they need once.
  HandWrittenLoop(data.options("gpt"), 1).step();
  const std::int64_t before = memory_bytes("VmRSS");
  std::ofstream("/proc/self/clear_refs") << "5";  // proc(5): resets the peak
  if (streams == 0) {
    // BLAS has scratch memory for every thread: like the engine's streams, on a thread of its own.
    std::thread([&] {
      HandWrittenLoop loop(data.large(), 1);
      for (int i = 0; i < 4; ++i) loop.step();
    }).join();
  } else {
    EngineSteps steps(data.large(), streams, 1);
    std::ofstream("/proc/self/clear_refs") << "5";  // building a model takes its weights twice
    for (int i = 0; i < 4; ++i) steps.step();
  }
  std::printf("%lld\n", static_cast<long long>(memory_bytes("VmHWM") - before));
}

// Weights, gradients and the optimizer's momentum have one size; what the hand-written loop takes
// beyond these three are activations, temporary gradients and the scratch memory of BLAS among
// them.
void bench_memory(const std::string& program) {
  const BenchData data;
  std::int64_t weights = 0;
  for (const auto& parameter : make_torch_model(data.large())->parameters())
    weights += parameter.numel() * 4;
  const std::int64_t activations = run_memory_of(program, 0) - 3 * weights;
  const auto megabytes = [](double bytes) {
    return std::to_string(std::int64_t(bytes / 1e6)) + " MB";
  };
  for (const int streams : {1, 4}) {
    const auto taken = static_cast<double>(run_memory_of(program, streams) - weights);
    const double allowed =
        1.1 * static_cast<double>(weights) + streams * static_cast<double>(weights + activations);
    print_row("memory of V=" + std::to_string(streams) + " without momentum, 100 MB",
              megabytes(taken), megabytes(allowed), taken / allowed, "<= 1");
  }
}

}  // namespace jabas::bench
