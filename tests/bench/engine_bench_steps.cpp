// Step times: beside a hand-written loop, with two streams, with a measurement of the gradients.
#include <time.h>

#include "tests/bench/engine_bench.h"
#include "tests/bench/hand_written_loop.h"
#include "tests/bench/timing.h"

namespace jabas::bench {
namespace {

constexpr int kWarmUp = 5;

std::int64_t batch_of(const std::string& model) { return model == "gpt" ? 16 : 64; }

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Medians over interleaved calls.
struct Pair {
  double first = 0, second = 0;          // seconds
  double first_cpu = 0, second_cpu = 0;  // processor seconds, of all threads
};
Pair interleaved(int repetitions, const std::function<void()>& first,
                 const std::function<void()>& second) {
  std::vector<double> times[2], cpu[2];
  for (int i = 0; i < repetitions + kWarmUp; ++i) {
    // Whoever comes second finds the caches as the other left them: take turns.
    for (const int which : {i % 2, 1 - i % 2}) {
      const double before = processor_seconds();
      const double seconds = seconds_of(which == 0 ? first : second);
      if (i < kWarmUp) continue;
      times[which].push_back(seconds);
      cpu[which].push_back(processor_seconds() - before);
    }
  }
  return {median(times[0]), median(times[1]), median(cpu[0]), median(cpu[1])};
}

std::string rate(double samples, double seconds) {
  return std::to_string(static_cast<int>(samples / seconds)) + "/s";
}

}  // namespace

void bench_step(const BenchData& data, int repetitions) {
  for (const std::string model : {"mlp", "cnn", "gpt"}) {
    const EngineOptions options = data.options(model);
    EngineSteps own(options, 1, batch_of(model));
    HandWrittenLoop other(options, batch_of(model));
    const Pair pair = interleaved(
        repetitions * (model == "mlp" ? 20 : 3), [&] { own.step(); }, [&] { other.step(); });
    print_row("step, V=1, " + model + ", beside a hand-written loop", milliseconds(pair.first),
              milliseconds(pair.second), pair.first / pair.second, "<= 1.02");
    print_row("  the same in processor time", milliseconds(pair.first_cpu),
              milliseconds(pair.second_cpu), pair.first_cpu / pair.second_cpu, "");
  }
}

void bench_streams(const BenchData& data, int repetitions) {
  for (const std::string model : {"mlp", "cnn", "gpt"}) {
    const std::int64_t batch = batch_of(model);
    EngineSteps two(data.options(model), 2, batch), one(data.options(model), 1, batch);
    const Pair pair = interleaved(
        repetitions * (model == "mlp" ? 10 : 2), [&] { two.step(); }, [&] { one.step(); });
    const auto samples = static_cast<double>(batch);
    print_row("samples/s, V=2 beside V=1, " + model, rate(2 * samples, pair.first),
              rate(samples, pair.second), 2 * pair.second / pair.first, ">= 1.7");
  }
}

void bench_measuring(const BenchData& data, int repetitions) {
  for (const std::string model : {"mlp", "cnn", "gpt"}) {
    EngineSteps steps(data.options(model), 2, batch_of(model));
    const Pair pair = interleaved(
        repetitions * (model == "mlp" ? 10 : 2), [&] { steps.step(true); }, [&] { steps.step(); });
    // One step of a hundred measures.
    const double overhead = (pair.first / pair.second - 1) / 100;
    print_row("measuring every 100 steps, V=2, " + model, milliseconds(pair.first),
              milliseconds(pair.second), 1 + overhead, "<= 1.01");
  }
}

}  // namespace jabas::bench
