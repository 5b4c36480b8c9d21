#include "allocator/simulator/engine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "allocator/cost_model.h"
#include "allocator/error.h"

namespace jabas::sim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

GpuCounts beyond(const GpuCounts& more, const GpuCounts& less) {
  GpuCounts result;
  for (const auto& [type, count] : more) result[type] = std::max(0, count - count_of(less, type));
  return normalized(result);
}

GpuCounts within(const GpuCounts& gpus, const GpuCounts& limit) {
  GpuCounts result;
  for (const auto& [type, count] : gpus) result[type] = std::min(count, count_of(limit, type));
  return normalized(result);
}

class Run {
 public:
  Run(const Setting& setting, Policy& policy, const Availability& availability)
      : setting_(setting),
        workload_(setting.workload),
        policy_(policy),
        availability_(availability),
        epoch_left_(double(workload_.epoch_samples())),
        next_adjust_(double(setting.adapt_every)) {}

  RunResult run() {
    start();
    while (progress_ < workload_.work()) advance();
    if (row_.time_s > 0) end_row();
    result_.time_s = time_s_;
    result_.steps = steps_;
    result_.epochs = samples_ / double(workload_.epoch_samples());
    result_.final_batch = plan_.batch;
    result_.final_metric = workload_.final_metric(double(plan_.batch));
    return std::move(result_);
  }

 private:
  // Until the next event.
  void advance() {
    const double gain = workload_.gain(progress_, double(plan_.batch));
    const double row_end = workload_.row_end(progress_);
    const double change_s = availability_.next_change(looked_s_);
    const double to_work = (workload_.work() - progress_) / gain;
    const double to_row = (row_end - progress_) / gain;
    const double to_adjust = next_adjust_ - steps_;
    const double to_epoch = epoch_left_ / double(plan_.batch);
    const double to_change = std::max(0.0, change_s - time_s_) / plan_.step_s;
    const double steps = std::max(0.0, std::min({to_work, to_row, to_adjust, to_epoch, to_change}));

    spend(steps * plan_.step_s, plan_.gpus);
    steps_ += steps;
    row_.steps += steps;
    samples_ += steps * double(plan_.batch);
    // What ends the piece is set, not added up: no rounding may leave a rest.
    progress_ = steps >= to_work  ? workload_.work()
                : steps >= to_row ? row_end
                                  : progress_ + steps * gain;
    epoch_left_ = steps >= to_epoch ? 0 : epoch_left_ - steps * double(plan_.batch);
    if (steps >= to_change) {
      looked_s_ = change_s;
      time_s_ = std::max(time_s_, change_s);
    }
    if (steps >= to_adjust) steps_ = next_adjust_;
    if (progress_ >= workload_.work()) return;

    if (steps >= to_change) availability_changed();
    if (epoch_left_ <= 0) end_epoch();
    if (steps >= to_adjust) next_adjust_ += double(setting_.adapt_every);
    if (steps >= to_adjust || (steps >= to_row && policy_.every_row()))
      take(policy_.plan(seen(Moment::kAdjust)));
  }

  void start() {
    GpuCounts available = availability_.gpus(time_s_);
    while (available.empty()) {
      const double next = availability_.next_change(time_s_);
      if (next == kNever)
        throw InputError("no GPU is available from " + std::to_string(std::int64_t(time_s_)) +
                         " s on: the run cannot go on");
      wait(next - time_s_);
      available = availability_.gpus(time_s_);
    }
    plan_ = {};
    take(policy_.plan(seen(Moment::kStart)));
  }

  void availability_changed() {
    const GpuCounts left = within(plan_.gpus, availability_.gpus(time_s_));
    if (left == plan_.gpus) return;
    ++result_.preemptions;
    pending_.reset();
    if (availability_.gpus(time_s_).empty() || left.empty()) {
      start();
      return;
    }
    Observation observation = seen(Moment::kLoss);
    observation.plan.gpus = left;
    const Plan next = policy_.plan(observation);
    plan_.gpus = left;
    // The survivors pause even if they go on with the same set.
    if (next.gpus == left)
      change_to(next);
    else
      take(next);
  }

  void end_epoch() {
    end_row();
    ++epoch_;
    ++epochs_since_change_;
    epoch_left_ = double(workload_.epoch_samples());
    if (!pending_) {
      take(policy_.plan(seen(Moment::kBoundary)));
    } else if (time_s_ >= pending_ready_s_) {
      const Plan next = *pending_;
      pending_.reset();
      if (within(next.gpus, availability_.gpus(time_s_)) == next.gpus) change_to(next);
    }
  }

  Observation seen(Moment moment) const {
    Observation observation;
    observation.moment = moment;
    observation.plan = plan_;
    observation.available = availability_.gpus(time_s_);
    for (const auto& [type, count] : availability_.cluster())
      observation.wait_s[type] = availability_.wait_s(type, time_s_);
    const double batch = double(plan_.batch > 0 ? plan_.batch : workload_.batch_min());
    observation.noise = workload_.noise(progress_, batch);
    observation.progress = progress_;
    observation.steps = steps_;
    observation.time_s = time_s_;
    observation.cost = result_.cost;
    observation.epoch = epoch_;
    observation.epochs_since_change = epochs_since_change_;
    return observation;
  }

  // Follows the policy's answer, at once or when the GPUs have come.
  void take(const Plan& next) {
    JABAS_ASSERT(next.batch > 0 && next.step_s > 0 && !next.gpus.empty(), "a policy gives a plan");
    if (next.gpus == plan_.gpus) {
      adopt(next);
      return;
    }
    double wait_s = 0;
    for (const auto& [type, count] : beyond(next.gpus, plan_.gpus))
      wait_s = std::max(wait_s, availability_.wait_s(type, time_s_));
    if (plan_.gpus.empty()) {
      wait(wait_s);
      if (steps_ > 0)
        change_to(next);
      else
        adopt(next);
    } else if (wait_s > 0) {
      pending_ = next;
      pending_ready_s_ = time_s_ + wait_s;
    } else {
      change_to(next);
    }
  }

  void adopt(const Plan& next) {
    plan_ = next;
    result_.clamped = result_.clamped || next.clamped;
  }

  void change_to(const Plan& next) {
    const ChangeCost cost = policy_.change_cost();
    const double startup =
        price_per_h(beyond(next.gpus, plan_.gpus), setting_.prices) * cost.startup_s;
    result_.cost += startup / kSecondsPerHour;
    row_.cost += startup / kSecondsPerHour;
    adopt(next);
    spend(cost.pause_s, plan_.gpus);
    ++result_.resizes;
    epochs_since_change_ = 0;
  }

  void spend(double seconds, const GpuCounts& gpus) {
    const double cost = price_per_h(gpus, setting_.prices) * seconds / kSecondsPerHour;
    time_s_ += seconds;
    result_.cost += cost;
    row_.time_s += seconds;
    row_.cost += cost;
  }
  void wait(double seconds) {
    time_s_ += seconds;
    result_.waited_s += seconds;
    row_.time_s += seconds;
  }

  void end_row() {
    row_.epoch = epoch_;
    row_.batch = plan_.batch;
    row_.gpus = plan_.gpus;
    result_.rows.push_back(row_);
    row_ = {};
  }

  const Setting& setting_;
  const Workload& workload_;
  Policy& policy_;
  const Availability& availability_;
  Plan plan_;
  std::optional<Plan> pending_;  // wanted, its GPUs still queue
  double pending_ready_s_ = 0;
  double progress_ = 0, steps_ = 0, samples_ = 0, time_s_ = 0;
  double looked_s_ = 0;              // changes of what is available up to then are known
  double epoch_left_, next_adjust_;  // samples, steps
  int epoch_ = 1, epochs_since_change_ = 0;
  EpochRow row_;
  RunResult result_;
};

}  // namespace

RunResult simulate(const Setting& setting, Policy& policy, const Availability& availability) {
  return Run(setting, policy, availability).run();
}

}  // namespace jabas::sim
