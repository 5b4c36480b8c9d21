// What the console reads from, and hands on of, the lead job's environment.
#include <algorithm>
#include <cstdlib>

#include "elastic_runner/console.h"
#include "elastic_runner/run_directory.h"

namespace jabas {

std::map<std::string, std::string> member_environment(char** variables) {
  static const char* const kDroppedPrefixes[] = {
      "SLURM_",        "SLURMD_",        "SBATCH_",        "SRUN_",
      "PMI",           "SPANK_",         "_SLURM_",        "JABAS_MEMBER",
      "JABAS_RUN_DIR", "JABAS_ENDPOINT", "JABAS_GPU_TYPE", "JABAS_REQUEST"};
  static const char* const kDropped[] = {"CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
                                         "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                         "ZE_AFFINITY_MASK",     "TMPDIR"};
  std::map<std::string, std::string> kept;
  for (char** entry = variables; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    const std::string name = text.substr(0, equals);
    const bool dropped =
        std::any_of(std::begin(kDroppedPrefixes), std::end(kDroppedPrefixes),
                    [&](const char* prefix) { return name.starts_with(prefix); }) ||
        std::find(std::begin(kDropped), std::end(kDropped), name) != std::end(kDropped);
    if (!dropped || name == "SLURM_CONF") kept[name] = text.substr(equals + 1);
  }
  return kept;
}

int base_gpus() {
  // Slurm sets both for a batch step that has GPUs; the list is the one that always agrees with
  // what is visible.
  const std::string devices = environment("CUDA_VISIBLE_DEVICES");
  const std::string count = environment("SLURM_GPUS_ON_NODE");
  const std::string list = environment("SLURM_JOB_GPUS");
  if (!count.empty()) return std::atoi(count.c_str());
  if (!list.empty()) return 1 + int(std::count(list.begin(), list.end(), ','));
  if (devices.empty() || devices == "NoDevFiles" || environment("SLURM_JOB_ID").empty()) return 0;
  return 1 + int(std::count(devices.begin(), devices.end(), ','));
}

}  // namespace jabas
