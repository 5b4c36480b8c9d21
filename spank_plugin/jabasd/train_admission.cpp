#include "spank_plugin/jabasd/train_admission.h"

#include <algorithm>
#include <array>

namespace jabas {
namespace {

bool given(const std::vector<std::string>& arguments, const std::string& option) {
  return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& word) {
    return word == option || word.rfind(option + "=", 0) == 0;
  });
}

std::string value_of(const std::vector<std::string>& arguments, const std::string& option) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == option && i + 1 < arguments.size()) return arguments[i + 1];
    if (arguments[i].rfind(option + "=", 0) == 0) return arguments[i].substr(option.size() + 1);
  }
  return "";
}

std::string batch_refusal(const Hello& hello, const Options& options, TrainingSpec* spec) {
  if (options.batch_min > 0) {
    static constexpr std::array<const char*, 4> kBatchOptions = {
        "--batch-min", "--batch-max", "--batch-initial", "--virtual-workers"};
    for (const char* option : kBatchOptions) {
      if (given(hello.arguments, option)) {
        return std::string(option) +
               ": the job was submitted with --jabas-batch=" + std::to_string(options.batch_min) +
               "-" + std::to_string(options.batch_max) +
               ", which sets the batch; give one of the two";
      }
    }
    spec->batch_min = spec->batch_initial = options.batch_min;
    spec->batch_max = options.batch_max;
    spec->adaptive =
        options.batch_max > options.batch_min && value_of(hello.arguments, "--adaptive") != "off";
  }
  if (lacks_similarity_target(*spec)) {
    return "--similarity-target: required when the batch is adaptive; accepted is a number between "
           "0 and 1 "
           "(or --adaptive=off)";
  }
  return "";
}

// b·N of the start where nothing else says it: one virtual worker per GPU of the minimum.
void complete_batch(const std::vector<GpuLimit>& limits, TrainingSpec* spec) {
  if (spec->batch_min > 0) return;
  int gpus = 0;
  for (const GpuLimit& limit : limits) gpus += limit.min;
  const std::int64_t workers =
      spec->virtual_workers > 0 ? spec->virtual_workers : std::max(spec->adaptive ? 2 : 1, gpus);
  spec->batch_min = spec->batch_initial > 0 ? spec->batch_initial : spec->local_batch * workers;
  spec->batch_max = std::max(spec->batch_max, spec->batch_min);
  if (spec->batch_initial == 0) spec->batch_initial = spec->batch_min;
}

}  // namespace

Admission admit(const Hello& hello, const Options& options, const std::string& base_type) {
  Admission result;
  result.spec = hello.spec;
  if (hello.protocol != kProtocolVersion) {
    result.refusal = "jabas-run speaks protocol " + std::to_string(hello.protocol) +
                     ", jabasd speaks " + std::to_string(kProtocolVersion) +
                     ": install the same version of both";
    return result;
  }
  if (!hello.job_id.empty() && hello.executable.empty()) {
    result.refusal = "the console did not name its executable: member jobs could not start it";
    return result;
  }
  result.refusal = batch_refusal(hello, options, &result.spec);
  if (!result.refusal.empty()) return result;

  const std::string type = !base_type.empty()            ? base_type
                           : hello.base_gpu_type.empty() ? "gpu"
                                                         : hello.base_gpu_type;
  if (hello.base_workers > 0) result.base[type] = hello.base_workers;
  bool base_listed = false;
  for (const TypeRange& range : options.gpus) {
    const int base = range.type == type ? hello.base_workers : 0;
    base_listed = base_listed || range.type == type;
    const std::string text = "--jabas-gpus=" + range.type + ":" + std::to_string(range.min) + "-" +
                             std::to_string(range.max);
    const GpuLimit limit{range.type, std::max(range.min, base), range.max};
    if (limit.max < base) {
      result.refusal = text + ": the job itself holds " + std::to_string(base) + " " + range.type +
                       "; MAX must be at least that";
    } else if ((limit.min - base) % options.unit != 0 || (limit.max - base) % options.unit != 0) {
      result.refusal = text + ": MIN and MAX, less the " + std::to_string(base) +
                       " GPUs of the job itself, must be multiples of --jabas-unit=" +
                       std::to_string(options.unit);
    }
    if (!result.refusal.empty()) return result;
    result.limits.push_back(limit);
  }
  if (hello.base_workers > 0 && !base_listed) {
    result.limits.push_back({type, hello.base_workers, hello.base_workers});
  }
  complete_batch(result.limits, &result.spec);
  return result;
}

}  // namespace jabas
