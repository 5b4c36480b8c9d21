#include "spank_plugin/jabasd/run_profile.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "allocator/throughput_model.h"

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

bool usable(const ComputePoint& point) {
  const auto time = [](double s) { return s >= 0 && s <= kMaxSeconds; };
  return point.local_batch >= 1 && point.local_batch <= kMaxLocalBatch && point.streams >= 1 &&
         point.streams <= kMaxStreams && time(point.data_s) && time(point.forward_s) &&
         time(point.backward_s) && time(point.update_s) && point.forward_s + point.backward_s > 0;
}

void sort(std::vector<ComputePoint>* points) {
  std::sort(points->begin(), points->end(), [](const ComputePoint& a, const ComputePoint& b) {
    return a.local_batch != b.local_batch ? a.local_batch < b.local_batch : a.streams < b.streams;
  });
}

// A model of a local batch needs its V = 1.
void leave_out_lonely_points(std::vector<ComputePoint>* points) {
  const std::vector<ComputePoint> all = *points;
  std::erase_if(*points, [&](const ComputePoint& point) {
    return std::none_of(all.begin(), all.end(), [&](const ComputePoint& other) {
      return other.local_batch == point.local_batch && other.streams == 1;
    });
  });
}

double compute_s(const StepTimes& times) {
  return times.data_s + times.forward_s + times.backward_s;
}

bool has_network(const Profile& profile) {
  const auto known = [](const CommunicationProfile& network) {
    return network.bandwidth_bytes_per_s > 0;
  };
  return known(profile.intra) || known(profile.inter) ||
         std::any_of(profile.types.begin(), profile.types.end(), [&](const auto& entry) {
           const TypeProfile& type = entry.second;
           return known(type.intra) || known(type.inter) || !type.sync_intra.empty() ||
                  !type.sync_inter.empty();
         });
}

bool measures_exposed_sync(const Profile& profile) {
  return std::any_of(profile.types.begin(), profile.types.end(), [](const auto& entry) {
    return !entry.second.sync_intra.empty() || !entry.second.sync_inter.empty();
  });
}

}  // namespace

RunProfile::RunProfile(const std::string& path) : from_file_(!path.empty()) {
  if (from_file_) {
    file_ = load_profile(path);
  } else {
    file_.source = "measured in this run";
  }
  profile_ = file_;
}

void RunProfile::begin_run() {
  profile_ = file_;
  from_training_.clear();
  network_ = {};
  corrections_.clear();
  taken_.clear();
}

bool RunProfile::knows(const std::string& type) const {
  return profile_.types.count(type) > 0 && from_training_.count(type) == 0;
}

bool RunProfile::calibrated(const Calibration& calibration) {
  network_.set_buckets(calibration.buckets);
  if (calibration.gpu_type.empty() || knows(calibration.gpu_type)) return false;
  TypeProfile type;
  std::copy_if(calibration.points.begin(), calibration.points.end(),
               std::back_inserter(type.points), usable);
  leave_out_lonely_points(&type.points);
  if (type.points.empty()) return false;
  sort(&type.points);
  type.tflops = builtin_tflops(calibration.gpu_type);
  profile_.types[calibration.gpu_type] = std::move(type);
  from_training_.erase(calibration.gpu_type);
  corrections_.erase(calibration.gpu_type);
  return true;
}

void RunProfile::set_gpus_per_node(const std::string& type, int gpus) {
  gpus_per_node_[type] = std::clamp(gpus, 1, kMaxGpusPerNode);
}

void RunProfile::measured(const std::string& worker, const WorkerTimes& times,
                          const std::vector<PlanMember>& training) {
  if (times.steps < 1 || times.gpu_type.empty()) return;
  if (knows(times.gpu_type)) {
    compare_compute(times);
  } else {
    add_point(times);
  }
  take_in_all_reduces(worker, times, training);
}

void RunProfile::compare_compute(const WorkerTimes& times) {
  if (times.local_batch < 1 || times.local_batch > kMaxLocalBatch || times.streams < 1 ||
      times.streams > kMaxStreams || times.accum_steps < 0)
    return;
  const PassTimes pass =
      TypeModel(profile_.types.at(times.gpu_type)).pass(times.local_batch, times.streams);
  const double predicted_s =
      (pass.data_s + pass.forward_s + pass.backward_s) * (times.accum_steps + 1);
  corrections_[times.gpu_type].observe(predicted_s, compute_s(times.median), times.steps);
}

void RunProfile::add_point(const WorkerTimes& times) {
  // A rank reports the sums over its a + 1 passes.
  const double passes = double(times.accum_steps + 1);
  const ComputePoint point{times.local_batch,
                           std::max(1, times.streams),
                           times.median.data_s / passes,
                           times.median.forward_s / passes,
                           times.median.backward_s / passes,
                           times.median.update_s,
                           0,
                           0};
  if (!usable(point)) return;
  from_training_.insert(times.gpu_type);
  TypeProfile& type = profile_.types[times.gpu_type];
  type.tflops = builtin_tflops(times.gpu_type);
  std::erase_if(type.points, [&](const ComputePoint& p) {
    return p.local_batch == point.local_batch && p.streams == point.streams;
  });
  type.points.push_back(point);
  sort(&type.points);
}

void RunProfile::take_in_all_reduces(const std::string& worker, const WorkerTimes& times,
                                     const std::vector<PlanMember>& training) {
  std::set<std::string> hosts;
  for (const PlanMember& member : training) hosts.insert(member.host);
  const int gpus = int(training.size()), nodes = int(hosts.size());
  if (!network_.report(times.generation, worker, times.buckets, gpus, nodes)) return;
  // Exposed times are no measure for what hides behind backward, too.
  if (!has_network(file_) || measures_exposed_sync(file_)) return;
  const ThroughputModel model(profile_);
  AllReduceTimes predicted;
  for (const PlanMember& member : training) {
    if (const TypeModel* type = model.find(member.gpu_type))
      predicted = slower(predicted, type->all_reduce(gpus, nodes, times.local_batch));
  }
  corrections_[""].observe(predicted.hidden_s + predicted.last_s, total_s(network_.shortest()),
                           times.steps);
}

void RunProfile::restore(const CorrectionRecord& correction) {
  corrections_[correction.gpu_type] =
      OnlineCorrection(correction.factor, correction.deviation, correction.reports);
  taken_[correction.gpu_type] = correction.factor;
}

std::vector<CorrectionRecord> RunProfile::take_corrections() {
  constexpr double kMoved = 0.01;
  std::vector<CorrectionRecord> moved;
  for (const auto& [type, correction] : corrections_) {
    const auto before = taken_.emplace(type, 1.0).first;
    if (std::abs(correction.factor() / before->second - 1) < kMoved) continue;
    before->second = correction.factor();
    moved.push_back({type, correction.factor(), correction.deviation(), correction.reports()});
  }
  return moved;
}

Profile RunProfile::corrected(const std::vector<std::string>& types,
                              std::vector<std::string>* notes) const {
  constexpr double kWorthANote = 0.05;
  Profile profile = profile_;
  if (!has_network(file_)) network_.describe(&profile);
  for (const auto& [type, gpus] : gpus_per_node_) {
    const auto known = profile.types.find(type);
    if (known != profile.types.end() && file_.types.count(type) == 0)
      known->second.gpus_per_node = gpus;
  }
  for (const auto& [type, correction] : corrections_) {
    const double factor = correction.factor();
    if (type.empty()) {
      scale_all_reduces(&profile, factor);
    } else if (profile.types.count(type) > 0) {
      scale_times(&profile.types[type], factor);
    }
    const bool asked = type.empty() || std::find(types.begin(), types.end(), type) != types.end();
    if (notes == nullptr || !asked || std::abs(factor - 1) < kWorthANote) continue;
    char text[160];
    std::snprintf(
        text, sizeof text,
        "%s: measured times are %.3g times the profile's (±%.1f %%, %d reports): corrected",
        type.empty() ? "all-reduce" : type.c_str(), factor, 100 * correction.deviation(),
        correction.reports());
    notes->push_back(text);
  }
  if (const double shared = shared_factor(); std::abs(shared - 1) >= kWorthANote) {
    for (const std::string& type : types) {
      if (!only_calibrated(type)) continue;
      scale_times(&profile.types[type], shared);
      char text[160];
      std::snprintf(text, sizeof text,
                    "%s: has not trained yet: corrected as the others that were calibrated are, "
                    "by %.3g",
                    type.c_str(), shared);
      if (notes != nullptr) notes->push_back(text);
    }
  }
  return profile;
}

bool RunProfile::only_calibrated(const std::string& type) const {
  const auto correction = corrections_.find(type);
  return knows(type) && file_.types.count(type) == 0 &&
         (correction == corrections_.end() || correction->second.reports() == 0);
}

// What calibrations miss (the rest of the machine being busy with the training, say) they miss for
// all types: without this a type that has not trained would always look better than one that has.
double RunProfile::shared_factor() const {
  double log_sum = 0;
  int count = 0;
  for (const auto& [type, correction] : corrections_) {
    if (type.empty() || file_.types.count(type) > 0 || correction.reports() == 0) continue;
    log_sum += std::log(correction.factor());
    ++count;
  }
  return count == 0 ? 1 : std::exp(log_sum / count);
}

Profile RunProfile::for_types(const std::vector<std::string>& types, std::int64_t local_batch,
                              std::vector<std::string>* notes) const {
  Profile profile = corrected(types, notes);
  for (auto& [name, type] : profile.types) leave_out_lonely_points(&type.points);
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
