// A daemon and the scripted world it runs in, for tests of whole runs.
#pragma once

#include <string>
#include <vector>

#include "tests/jabasd/daemon_runner.h"
#include "tests/jabasd/fake_world.h"

namespace jabas {

struct DaemonScene {
  explicit DaemonScene(const std::vector<std::string>& arguments)
      : runner(arguments), world(&runner.slurm(), runner.run_dir()) {}
  void until_records(const std::string& type, int count) {
    world.until(std::to_string(count) + " records " + type,
                [&] { return runner.count(type) >= count; });
  }
  DaemonRunner runner;
  FakeWorld world;
};

// Global batch 256 in slices of 32.
inline TrainingSpec fixed_batch_run(int epochs) {
  TrainingSpec spec;
  spec.epochs = epochs;
  spec.local_batch = 32;
  spec.batch_min = spec.batch_max = spec.batch_initial = 256;
  return spec;
}

}  // namespace jabas
