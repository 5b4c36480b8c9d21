#include "elastic_runner/profile_command.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "allocator/error.h"
#include "allocator/text_file.h"
#include "elastic_runner/all_reduce_probe.h"
#include "elastic_runner/calibration.h"
#include "elastic_runner/engine_options.h"
#include "elastic_runner/option_checks.h"
#include "elastic_runner/process_memory.h"
#include "elastic_runner/run_directory.h"

namespace jabas {
namespace {

constexpr int kAllReduceRepeats = 15;

void say(const std::string& text) { std::fprintf(stderr, "jabas-run: %s\n", text.c_str()); }

int number_of(const char* variable, int otherwise) {
  const int value = std::atoi(environment(variable).c_str());
  return value > 0 ? value : otherwise;
}

TaskPlace place_of_this_task() {
  TaskPlace place;
  // In a batch script nothing but the script itself runs: only a step has tasks.
  if (environment("SLURM_STEP_NUM_TASKS").empty()) return place;
  place.tasks = number_of("SLURM_STEP_NUM_TASKS", 1);
  place.nodes = number_of("SLURM_STEP_NUM_NODES", 1);
  place.rank = std::atoi(environment("SLURM_PROCID").c_str());
  require(place.tasks == place.nodes,
          "profile: " + std::to_string(place.tasks) + " tasks of one srun on " +
              std::to_string(place.nodes) +
              " nodes; accepted is one task on each (--ntasks-per-node=1)");
  if (place.tasks > 1)
    place.address = data_address("tcp://" + environment("SLURM_LAUNCH_NODE_IPADDR") + ":1");
  return place;
}

// Beside the profile, which all nodes see.
std::string meeting_place(const std::string& output) {
  const auto folder = output == "-" ? std::filesystem::current_path()
                                    : std::filesystem::absolute(output).parent_path();
  return (folder /
          (".jabas-profile-" + environment("SLURM_JOB_ID") + "." + environment("SLURM_STEP_ID")))
      .string();
}

void show(const ComputePoint& point) {
  const double pass_s = point.data_s + point.forward_s + point.backward_s;
  char text[200];
  std::snprintf(text, sizeof text,
                "local batch %lld, %d stream%s: %.2f ms a pass (data %.2f, forward %.2f, backward "
                "%.2f), %.0f samples/s",
                static_cast<long long>(point.local_batch), point.streams,
                point.streams == 1 ? "" : "s", 1e3 * pass_s, 1e3 * point.data_s,
                1e3 * point.forward_s, 1e3 * point.backward_s,
                double(point.local_batch * point.streams) / pass_s);
  say(text);
}

// How many streams memory holds at each local batch that was measured, from what the measured ones
// took.
class StreamMemory {
 public:
  explicit StreamMemory(int most) : most_(most), before_(resident_bytes()) {}
  // After a point, the first one of its local batch included.
  void measured(const ComputePoint& point) {
    const double each = (peak_resident_bytes() - before_) / point.streams;
    const double free = available_bytes() + resident_bytes() - before_;
    int& fits = fits_[point.local_batch];
    fits = each > 0 ? int(std::min(double(most_), free / each)) : most_;
    fits = std::max(fits, point.streams);  // it ran
    reset_peak_resident_bytes();
  }
  const std::map<std::int64_t, int>& fits() const { return fits_; }

 private:
  const int most_;
  const double before_;
  std::map<std::int64_t, int> fits_;
};

TypeProfile measure_gpu(const ProfileCommand& command, IidpEngine& engine) {
  CalibrationGrid grid;
  TrainingSpec around = command.spec;
  around.adaptive = true;
  around.local_batch_fixed = false;
  around.batch_max = kMaxGlobalBatch;
  grid.batches = command.batches.empty() ? calibration_grid(around, engine.has_batch_norm()).batches
                                         : command.batches;
  std::sort(grid.batches.begin(), grid.batches.end());
  grid.max_streams = command.max_streams;
  grid.repeats = command.repeats;
  grid.budget_s = INFINITY;
  grid.all_streams = true;
  StreamMemory memory(command.max_streams);
  CalibrationTools tools = real_device(engine, command.repeats);
  tools.show = [&](const ComputePoint& point) {
    show(point);
    memory.measured(point);
  };
  TypeProfile type;
  type.tflops = builtin_tflops(command.gpu_type);
  type.gpus_per_node = command.gpus_per_node;
  type.points = measure_points(grid, tools);
  type.max_streams = memory.fits();
  return type;
}

}  // namespace

int run_profile(ProfileCommand command, const RunnerBackends& backends) {
  const TaskPlace place = place_of_this_task();
  if (command.output != "-") {
    const auto folder = std::filesystem::absolute(command.output).parent_path();
    if (!std::filesystem::is_directory(folder))
      throw IoError("-o=" + command.output + ": there is no such folder", folder.string(), ENOENT);
  }
  const auto engine = backends.make_engine(engine_options(command.spec));
  command.spec.train_samples = engine->train_samples();
  require(!engine->has_batch_norm() || command.batches.empty() || command.batches.front() > 1,
          "--batches: 1: model " + command.spec.model +
              " has BatchNorm, which needs at least 2 samples");

  Profile profile;
  profile.model = command.spec.model;
  profile.bucket_bytes = engine->bucket_bytes();
  const std::vector<double> sizes = probe_sizes(profile.bucket_bytes);
  if (place.tasks > 1) {
    if (place.rank == 0) say("all-reduce across " + std::to_string(place.nodes) + " nodes");
    profile.inter = measure_across_nodes(backends, place, meeting_place(command.output), sizes,
                                         kAllReduceRepeats);
    if (place.rank > 0) return 0;
  } else {
    say("all-reduce across nodes: not measured; start it with srun on several nodes, one task on "
        "each");
  }
  say("all-reduce inside this node");
  profile.intra = measure_inside_node(backends, sizes, kAllReduceRepeats);
  profile.types[command.gpu_type] = measure_gpu(command, *engine);
  write_text_file(command.output, to_json_text(profile) + "\n", "the profile");
  if (command.output != "-") say("written to " + command.output);
  return 0;
}

}  // namespace jabas
