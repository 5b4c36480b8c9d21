#include "spank_plugin/jabasd/run_profile.h"

#include <algorithm>

namespace jabas {
namespace {

// A V100 does about this many samples of a small image network per second; only ratios between
// types matter until something is measured.
constexpr double kNominalSamplesPerS = 5000, kNominalTflops = 14.13;

TypeProfile nominal(const std::string& type, std::int64_t local_batch) {
  TypeProfile result;
  result.tflops = builtin_tflops(type);
  if (result.tflops <= 0) return result;
  ComputePoint point;
  point.local_batch = local_batch;
  const double compute_s =
      double(local_batch) / kNominalSamplesPerS * kNominalTflops / result.tflops;
  point.forward_s = compute_s / 3;
  point.backward_s = compute_s * 2 / 3;
  result.points = {point};
  result.max_streams = {{local_batch, 1}};
  result.scaled = true;
  return result;
}

}  // namespace

RunProfile::RunProfile(const std::string& path) : from_file_(!path.empty()) {
  if (from_file_) {
    profile_ = load_profile(path);
  } else {
    profile_.source = "measured in this run";
  }
}

void RunProfile::measured(const WorkerTimes& times) {
  if (from_file_ || times.steps < 1 || times.gpu_type.empty()) return;
  const int streams = std::max(1, times.streams);
  const auto same = [&](const ComputePoint& p) {
    return p.local_batch == times.local_batch && p.streams == streams;
  };
  ComputePoint point;
  point.local_batch = times.local_batch;
  point.streams = streams;
  // A rank reports the sums over its a + 1 passes.
  const double passes = double(times.accum_steps + 1);
  point.data_s = times.mean.data_s / passes;
  point.forward_s = times.mean.forward_s / passes;
  point.backward_s = times.mean.backward_s / passes;
  point.update_s = times.mean.update_s;
  if (point.forward_s + point.backward_s <= 0) return;
  TypeProfile& type = profile_.types[times.gpu_type];
  type.tflops = builtin_tflops(times.gpu_type);
  std::erase_if(type.points, same);
  type.points.push_back(point);
  std::sort(type.points.begin(), type.points.end(),
            [](const ComputePoint& a, const ComputePoint& b) {
              return a.local_batch != b.local_batch ? a.local_batch < b.local_batch
                                                    : a.streams < b.streams;
            });
  int& most = type.max_streams[times.local_batch];
  most = std::max(most, streams);
}

Profile RunProfile::for_types(const std::vector<std::string>& types, std::int64_t local_batch,
                              std::vector<std::string>* notes) const {
  Profile profile = profile_;
  // A model of a local batch needs its V = 1; what was measured with more streams alone is not
  // enough.
  for (auto& [name, type] : profile.types) {
    const std::vector<ComputePoint> points = type.points;
    std::erase_if(type.points, [&](const ComputePoint& point) {
      return std::none_of(points.begin(), points.end(), [&](const ComputePoint& other) {
        return other.local_batch == point.local_batch && other.streams == 1;
      });
    });
  }
  std::erase_if(profile.types, [](const auto& entry) { return entry.second.points.empty(); });
  if (profile.types.empty()) {
    for (const std::string& type : types) {
      TypeProfile guess = nominal(type, local_batch);
      if (guess.points.empty()) {
        if (notes)
          notes->push_back(type +
                           ": nothing is known about its speed: used only up to its minimum");
        continue;
      }
      if (notes) notes->push_back(type + ": not measured yet: nominal times by TFLOP/s");
      profile.types[type] = guess;
    }
    return profile;
  }
  return complete_profile(profile, types, notes);
}

}  // namespace jabas
