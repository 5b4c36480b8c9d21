// What the run learns about the speed of its GPUs: who measures a type that has no profile, what
// came of it, and GPUs that are asked for only to be measured.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "spank_plugin/jabasd/daemon.h"
#include "spank_plugin/jabasd/decision_state.h"

namespace jabas {
namespace {

// From the decision to ask for it to the answer of a GPU that is only to be measured.
constexpr double kProbeLimit_s = 600;

}  // namespace

// One worker of each unknown type measures it, before it is ready.
std::string Daemon::to_calibrate(const Worker& worker) {
  const std::string type = type_of(worker);
  if (worker.ready || type.empty() || profile_.knows(type)) return "";
  const auto busy = calibrating_.find(type);
  if (busy != calibrating_.end() && busy->second != worker.id && workers_.known(busy->second))
    return "";
  calibrating_[type] = worker.id;
  return type;
}

void Daemon::on_calibration(const std::string& from, const Calibration& calibration) {
  Calibration own = calibration;
  own.gpu_type = type_of(*workers_.find(from));
  probes_.erase(own.gpu_type);
  calibrating_.erase(own.gpu_type);
  if (!profile_.calibrated(own)) {
    if (!profile_.knows(own.gpu_type))
      journal_.warning(own.gpu_type + ": " + from + " could not measure its speed");
    return;
  }
  journal_.calibration(own);
  spdlog::info("{}: measured by {} at {} points in {:.1f} s", own.gpu_type, from, own.points.size(),
               own.duration_s);
  // A run that had nothing to decide with can begin now.
  if (state_ == RunState::kWaiting && !run_->trained_once && total(run_->wanted) == 0)
    run_->decided_for = 0;
}

void Daemon::on_worker_times(const std::string& from, const WorkerTimes& times) {
  if (times.generation == coordinator_.generation())
    profile_.measured(from, times, coordinator_.training());
}

void Daemon::journal_corrections() {
  for (const CorrectionRecord& correction : profile_.take_corrections())
    journal_.correction(correction);
}

void Daemon::note_gpus_per_node() {
  GpuCounts most;
  for (const NodeRow& node : nodes_)
    for (const auto& [type, gpus] : node.gpus) most[type] = std::max(most[type], gpus);
  for (const auto& [type, gpus] : most) profile_.set_gpus_per_node(type, gpus);
}

// A type that is not wanted would never be measured, so that a wrong guess about it would stand for
// the whole run: one member of it is asked for, measured and given back. Only once per type, only
// what Slurm can give now, and only while there is another decision to come.
void Daemon::choose_probes(int next_epoch, const GpuCounts& wanted, const GpuCounts& free,
                           std::vector<std::string>* notes) {
  const int unit = config_.options.unit;
  if (next_epoch >= run_->spec.epochs) return;
  for (const GpuLimit& limit : run_->limits) {
    const std::string& type = limit.type;
    const bool unknown = !profile_.knows(type) && calibrating_.count(type) == 0;
    if (!unknown || count_of(wanted, type) > 0 || count_of(run_->base, type) > 0 ||
        count_of(free, type) < unit || limit.max < unit || !probed_.insert(type).second)
      continue;
    probes_[type] = unix_now_s() + kProbeLimit_s;
    notes->push_back(type + ": its speed is not known: " + std::to_string(unit) +
                     (unit == 1 ? " GPU is" : " GPUs are") + " asked for to measure it");
  }
}

// Beyond what is wanted.
GpuCounts Daemon::probes() const {
  GpuCounts result;
  const double now_s = unix_now_s();
  for (const auto& [type, until_s] : probes_)
    if (now_s < until_s && count_of(run_->wanted, type) == 0) result[type] = config_.options.unit;
  return result;
}

}  // namespace jabas
