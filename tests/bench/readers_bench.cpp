// Share of a training step that is spent waiting for data, with and without threads that read
// ahead. See the script beside it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "elastic_runner/iidp_engine.h"
#include "elastic_runner/sampler.h"
#include "tests/elastic_runner/data_files.h"
#include "tests/elastic_runner/engine_fixture.h"
#include "tests/support/temp_dir.h"

namespace {

using namespace jabas;

constexpr std::int64_t kLocalBatch = 32;

struct Times {
  double data_s = 0, step_s = 0;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Medians over `steps` steps of one stream, the first ones left out.
Times measure(EngineOptions options, int readers, int steps) {
  options.reading.readers = readers;
  const auto engine = make_iidp_engine(options);
  engine->configure(1, 0, kLocalBatch);
  const auto communicator = testing::solo();
  const auto order = epoch_order(1, 1, engine->train_samples());
  std::vector<double> data_s, step_s;
  for (int step = 0; step < steps + 3; ++step) {
    const std::int64_t begin = step * kLocalBatch % (engine->train_samples() - 2 * kLocalBatch);
    StepPlan plan;
    plan.epoch = 1;
    plan.step = step + 1;
    plan.slices = next_step(order, begin, kLocalBatch, 1, true).slices;
    plan.next_slices = next_step(order, begin + kLocalBatch, kLocalBatch, 1, true).slices;
    plan.step_samples = kLocalBatch;
    plan.learning_rate = 0.001;
    const StepTimes times = engine->train_step(plan, *communicator).times;
    if (step < 3) continue;
    data_s.push_back(times.data_s);
    step_s.push_back(times.step_s);
  }
  return {median(data_s), median(step_s)};
}

void compare(const char* what, const EngineOptions& options, int steps) {
  for (const int readers : {0, 1}) {
    const Times times = measure(options, readers, steps);
    std::printf("%-28s readers %d  step %8.2f ms  waiting for data %8.3f ms  %5.1f %%\n", what,
                readers, 1000 * times.step_s, 1000 * times.data_s,
                100 * times.data_s / times.step_s);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const int steps = count > 1 ? std::max(1, std::atoi(arguments[1])) : 15;
  const TempDir dir;
  testing::write_cifar10(dir / "cifar", 200);
  testing::write_image_folder(dir / "images", 120, 1, 400);
  EngineOptions options;
  options.model = "cnn";
  options.reading.augment = true;
  options.dataset = "cifar10";
  options.data_dir = (dir / "cifar").string();
  compare("cifar10, augmented", options, steps);
  options.dataset = "images";
  options.data_dir = (dir / "images").string();
  options.reading.image_size = 64;
  compare("JPEG and PNG folder, 64", options, steps);
}
