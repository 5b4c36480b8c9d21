#include "elastic_runner/typical_times.h"

#include <utility>

#include "elastic_runner/median.h"

namespace jabas {
namespace {

constexpr std::chrono::seconds kReportInterval{5};
constexpr std::size_t kMostSteps = 1000;

template <typename Element, typename Value>
double median_of(const std::vector<Element>& elements, const Value& value) {
  std::vector<double> values;
  for (const Element& element : elements) values.push_back(value(element));
  return median(std::move(values));
}

bool same_stretch(const WorkerTimes& a, const WorkerTimes& b) {
  return a.generation == b.generation && a.local_batch == b.local_batch && a.streams == b.streams &&
         a.accum_steps == b.accum_steps;
}

}  // namespace

std::vector<WorkerTimes> TypicalTimes::add(const ActiveGeneration& generation,
                                           const StepOutcome& outcome, Clock::time_point now) {
  std::vector<WorkerTimes> due;
  if (!outcome.typical) return due;
  WorkerTimes stretch;
  stretch.generation = generation.prepare.generation;
  stretch.gpu_type = generation.prepare.members[std::size_t(generation.rank())].gpu_type;
  stretch.local_batch = generation.split.local_batch;
  stretch.streams = generation.share().streams;
  stretch.accum_steps = generation.share().accum_steps;
  if (!same_stretch(stretch, stretch_)) {
    if (auto before = take()) due.push_back(std::move(*before));
    stretch_ = std::move(stretch);
  }
  if (steps_.empty()) began_ = now;
  steps_.push_back(outcome.times);
  if (buckets_.empty() || buckets_.front().size() == outcome.buckets.size())
    buckets_.push_back(outcome.buckets);
  if (now - began_ >= kReportInterval || steps_.size() >= kMostSteps) due.push_back(*take());
  return due;
}

std::optional<WorkerTimes> TypicalTimes::take() {
  if (steps_.empty()) return std::nullopt;
  WorkerTimes times = stretch_;
  times.steps = std::ssize(steps_);
  for (double StepTimes::*part :
       {&StepTimes::data_s, &StepTimes::forward_s, &StepTimes::backward_s, &StepTimes::all_reduce_s,
        &StepTimes::update_s, &StepTimes::step_s}) {
    times.median.*part = median_of(steps_, [&](const StepTimes& step) { return step.*part; });
  }
  times.buckets = buckets_.front();
  for (std::size_t i = 0; i < times.buckets.size(); ++i) {
    times.buckets[i].all_reduce_s =
        median_of(buckets_, [&](const auto& step) { return step[i].all_reduce_s; });
  }
  steps_.clear();
  buckets_.clear();
  return times;
}

}  // namespace jabas
