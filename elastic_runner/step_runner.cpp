#include "elastic_runner/step_runner.h"

#include <algorithm>
#include <utility>

#include "elastic_runner/batch_planner.h"
#include "elastic_runner/lr_scaling.h"
#include "elastic_runner/lr_schedule.h"
#include "elastic_runner/sampler.h"
#include "elastic_runner/state_transfer.h"

namespace jabas {
namespace {

AdaptiveRules rules_of(const TrainingSpec& spec) {
  AdaptiveRules rules;
  rules.policy = spec.batch_policy;
  rules.target = spec.similarity_target;
  rules.up = spec.adapt_up;
  rules.down = spec.adapt_down;
  rules.batch_min = double(spec.batch_min);
  rules.batch_max = double(spec.batch_max);
  return rules;
}

// What the emulated GPUs would measure, in place of what this machine's cores did meanwhile.
void as_emulated(const ActiveGeneration& generation, std::int64_t local_batch,
                 StepOutcome& outcome) {
  const StepTimes emulated = generation.emulation->measured(local_batch, generation.share());
  outcome.times.data_s = emulated.data_s;
  outcome.times.forward_s = emulated.forward_s;
  outcome.times.backward_s = emulated.backward_s;
  outcome.times.update_s = emulated.update_s;
  if (outcome.buckets.empty()) return;
  const AllReduceTimes all_reduce =
      generation.emulation->all_reduce(generation.prepare.members, local_batch);
  double hidden_bytes = 0;
  for (const BucketTime& bucket : outcome.buckets) hidden_bytes += bucket.bytes;
  hidden_bytes -= outcome.buckets.back().bytes;
  for (BucketTime& bucket : outcome.buckets)
    bucket.all_reduce_s = hidden_bytes > 0 ? all_reduce.hidden_s * bucket.bytes / hidden_bytes : 0;
  outcome.buckets.back().all_reduce_s =
      all_reduce.last_s + (hidden_bytes > 0 ? 0 : all_reduce.hidden_s);
}

std::chrono::milliseconds collective_timeout(double slowest_step_s) {
  if (slowest_step_s <= 0) return kUnknownCollectiveTimeout;
  return std::max(kLeastCollectiveTimeout,
                  std::chrono::milliseconds(std::int64_t(4000 * slowest_step_s)));
}

}  // namespace

StepOutcome StepRunner::run(ActiveGeneration& generation) {
  RunState& state = context_.state;
  if (order_epoch_ != state.epoch) {
    order_ = epoch_order(context_.spec.seed, state.epoch, context_.train_samples);
    order_epoch_ = state.epoch;
  }
  const StepSlices slices = next_step(order_, state.samples_consumed, state.local_batch,
                                      state.virtual_workers, context_.engine.has_batch_norm());
  StepPlan plan = plan_step(generation, slices);
  if (context_.spec.readers > 0) plan.next_slices = expected_slices(generation, slices);
  generation.communicator->set_timeout(collective_timeout(
      slowest_step_s_ > 0 ? std::max(slowest_step_s_, generation.split.step_s) : 0));
  if (context_.ledger != nullptr)
    context_.ledger->begin_step(state.generation, plan.epoch, plan.step);
  const auto begin = Clock::now();
  StepOutcome outcome = context_.engine.train_step(plan, *generation.communicator);
  outcome.learning_rate = plan.learning_rate;
  outcome.samples = slices.samples;
  outcome.typical = slices.full && !plan.measure;
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (context_.ledger != nullptr) context_.ledger->commit();

  state.step = plan.step;
  state.samples_consumed += slices.samples;
  ++state.epoch_steps;
  state.epoch_loss_sum += outcome.loss * double(slices.samples);
  state.epoch_train_s += seconds;
  slowest_step_s_ = std::max(slowest_step_s_, seconds);
  if (generation.emulation) {
    if (outcome.typical) as_emulated(generation, state.local_batch, outcome);
    unreported_overruns_ = outcome.overrun ? 1 : 0;
    state.emulated_steps += generation.communicator->world_size();
    state.emulation_overruns += std::int64_t(at(outcome.control, ControlFlag::kOverruns));
  }
  context_.control.update_hello([&](Hello& hello) {
    hello.epoch = state.epoch;
    hello.samples_consumed = state.samples_consumed;
    hello.last_committed_step = state.step;
  });
  if (plan.measure) adapt(generation, outcome);
  return outcome;
}

StepPlan StepRunner::plan_step(const ActiveGeneration& generation, const StepSlices& slices) {
  const RunState& state = context_.state;
  const TrainingSpec& spec = context_.spec;
  StepPlan plan;
  plan.epoch = state.epoch;
  plan.step = state.step + 1;
  plan.first_worker = generation.first_worker();
  plan.slices = slices_of_rank(slices, plan.first_worker, generation.share().workers());
  plan.step_samples = slices.samples;
  plan.learning_rate = learning_rate(slices.samples);
  plan.measure = spec.adaptive && slices.full && state.virtual_workers >= 2 &&
                 plan.step >= state.adaptive.next_adjustment;
  plan.control = own_flags();
  if (generation.emulation) {
    plan.min_compute_s =
        generation.emulation->compute_s(state.local_batch, generation.share(),
                                        double(slices.samples) / double(state.global_batch()));
  }
  return plan;
}

// Of the step after this one, if batch and split stay.
std::vector<std::vector<std::int64_t>> StepRunner::expected_slices(
    const ActiveGeneration& generation, const StepSlices& present) const {
  const RunState& state = context_.state;
  const std::int64_t consumed = state.samples_consumed + present.samples;
  if (consumed >= context_.train_samples) return {};
  return slices_of_rank(next_step(order_, consumed, state.local_batch, state.virtual_workers,
                                  context_.engine.has_batch_norm()),
                        generation.first_worker(), generation.share().workers());
}

// By the samples seen in the middle of the step. An epoch's smaller last step counts as a whole
// one.
double StepRunner::learning_rate(std::int64_t step_samples) const {
  const RunState& state = context_.state;
  const TrainingSpec& spec = context_.spec;
  const double seen = double(state.epoch - 1) * double(context_.train_samples) +
                      double(state.samples_consumed) + double(step_samples) / 2;
  const double scheduled = spec.lr * schedule_factor(spec, seen);
  if (!spec.adaptive) return scheduled;
  return scheduled *
         lr_factor(spec.lr_scaling, {double(state.global_batch()), double(spec.batch_min),
                                     state.adaptive.sqr(), state.adaptive.trace(),
                                     /*normalised=*/spec.optimizer != "sgd"});
}

ControlVector StepRunner::own_flags() {
  ControlVector control = make_control_vector();
  at(control, ControlFlag::kLeaseLost) = context_.control.lease_lost() ? 1.0F : 0.0F;
  at(control, ControlFlag::kStop) = context_.orders.stop() ? 1.0F : 0.0F;
  at(control, ControlFlag::kRegroup) = context_.orders.release() ? 1.0F : 0.0F;
  at(control, ControlFlag::kOverruns) = float(unreported_overruns_);
  return control;
}

BatchPlan StepRunner::decide(const ActiveGeneration& generation, const StepOutcome& outcome) {
  RunState next = context_.state;
  const auto measured = outcome.halves ? measure(*outcome.halves) : std::nullopt;
  const auto& members = generation.prepare.members;
  const PlanInput input{context_.spec, members, usable_profile(generation.profile, members),
                        next.epoch};
  WantedBatch wanted{next.adaptive.wanted_batch, "nothing measured: a half had no finite gradient"};
  if (measured) {
    next.adaptive = with_measurement(next.adaptive, *measured);
    wanted = next_wanted_batch(next.adaptive, rules_of(context_.spec),
                               [&] { return goodput_batch(input, next); });
  }
  next.adaptive.wanted_batch = wanted.batch;
  next.adaptive.next_adjustment = next_adjustment_after(next.step, context_.spec.adapt_every);
  PlanResult result = plan_for_batch(input, next);
  if (!result.plan) {
    return {generation.split, next.adaptive, wanted.reason + "; batch kept: " + result.reason};
  }
  result.plan->reason = wanted.reason + "; " + result.plan->reason;
  return *result.plan;
}

void StepRunner::adapt(ActiveGeneration& generation, const StepOutcome& outcome) {
  Communicator& communicator = *generation.communicator;
  const std::string text =
      communicator.rank() == 0 ? to_json_text(decide(generation, outcome)) : "";
  const BatchPlan plan = batch_plan_from_json(broadcast_text(communicator, text, 0));
  apply_plan(context_, generation, plan);
  if (communicator.rank() != 0) return;
  const RunState& state = context_.state;
  BatchDecision decision;
  decision.step = state.step + 1;
  decision.epoch = state.epoch;
  decision.wanted_batch = state.adaptive.wanted_batch;
  decision.global_batch = state.global_batch();
  decision.local_batch = state.local_batch;
  decision.virtual_workers = state.virtual_workers;
  decision.similarity = state.adaptive.similarity;
  decision.grad_sqr = std::max(0.0, state.adaptive.sqr());
  decision.grad_var = state.adaptive.variance(context_.spec.batch_min);
  decision.reason = plan.reason;
  decisions_.push_back(std::move(decision));
}

std::vector<BatchDecision> StepRunner::take_decisions() { return std::exchange(decisions_, {}); }

}  // namespace jabas
