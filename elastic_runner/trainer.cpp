#include "elastic_runner/trainer.h"

#include <cstdio>

#include "elastic_runner/generation_entry.h"
#include "elastic_runner/resize_switch.h"
#include "elastic_runner/state_file.h"

namespace jabas {
namespace {

constexpr std::chrono::milliseconds kStandbyPoll{200};
constexpr std::chrono::seconds kCheckpointDeadline{120};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

Trainer::Trainer(TrainingContext& context)
    : context_(context), steps_(context), reporter_(context) {}

ExitCode Trainer::run() {
  while (true) {
    std::optional<ActiveGeneration> generation;
    End end = End::kLeft;
    try {
      generation = stand_by();
      end = generation                      ? train(*generation)
            : context_.control.lease_lost() ? End::kLeaseLost
                                            : End::kReleased;
    } catch (const CommError& error) {
      // The communicator is dead. What this rank committed stays; the recovery's generation goes on
      // from the most advanced rank. A worker that was only joining has nothing to report: the
      // switch fails without it.
      generation.reset();
      context_.builder.drop_planned();
      const RunState& state = context_.state;
      if (state.generation > 0) {
        std::fprintf(
            stderr,
            "jabas-run: %s: generation %d broke after step %lld: %s; waiting for a new one\n",
            context_.worker_id.c_str(), state.generation, static_cast<long long>(state.step),
            error.what());
        context_.control.send(
            Fault{state.generation, error.what(), state.epoch, state.samples_consumed, state.step});
      }
      continue;
    }
    if (end == End::kRegroup) {
      generation.reset();
      context_.builder.drop_planned();
      const RunState& state = context_.state;
      context_.control.send(Fault{state.generation, "a worker leaves at an agreed step",
                                  state.epoch, state.samples_consumed, state.step});
      continue;
    }
    return leave(end);
  }
}

std::optional<ActiveGeneration> Trainer::stand_by() {
  context_.builder.set_training({});
  while (!context_.orders.stop() && !context_.orders.release() && !context_.control.lease_lost()) {
    if (auto prepared = context_.builder.take_first())
      return enter_first(context_, std::move(*prepared));
    if (auto prepared = context_.builder.take_joining()) {
      auto generation = enter_as_joiner(context_, std::move(*prepared));
      if (generation) return generation;
      continue;
    }
    context_.builder.wait(kStandbyPoll);
  }
  return std::nullopt;
}

Trainer::End Trainer::train(ActiveGeneration& generation) {
  while (context_.state.epoch <= context_.spec.epochs) {
    if (const auto end = train_epoch(generation)) return *end;
    const auto begin = Clock::now();
    const Evaluation evaluation = evaluate(generation);
    const auto boundary = Clock::now();
    reporter_.after_epoch(generation, evaluation,
                          std::chrono::duration<double>(boundary - begin).count());
    close_epoch(generation);
    if (context_.state.epoch > context_.spec.epochs) break;
    switch (switch_at_boundary(context_, generation, boundary)) {
      case BoundaryResult::kLeft:
        return End::kLeft;
      case BoundaryResult::kStay:
      case BoundaryResult::kSwitched:
        break;
    }
  }
  return finish(generation);
}

std::optional<Trainer::End> Trainer::train_epoch(ActiveGeneration& generation) {
  while (context_.state.samples_consumed < context_.train_samples) {
    if (context_.builder.first_committed()) throw CommError("the daemon began another generation");
    report_switch(generation);
    const StepOutcome outcome = steps_.run(generation);
    reporter_.after_step(generation, outcome, steps_.take_decisions());
    if (const auto end = obey(generation, outcome.control)) return end;
  }
  return std::nullopt;
}

void Trainer::report_switch(ActiveGeneration& generation) {
  if (generation.switch_reported) return;
  generation.switch_reported = true;
  if (generation.rank() != 0) return;
  const RunState& state = context_.state;
  const double pause_s = generation.paused_since ? seconds_since(*generation.paused_since) : 0;
  context_.control.send(
      Switched{state.generation, generation.prepare.attempt, state.epoch, state.step + 1, pause_s});
}

std::optional<Trainer::End> Trainer::obey(const ActiveGeneration& generation,
                                          const ControlVector& flags) {
  const bool lease_lost = at(flags, ControlFlag::kLeaseLost) > 0,
             stop = at(flags, ControlFlag::kStop) > 0;
  if (lease_lost || stop) {
    if (generation.rank() == 0) {
      checkpoint();
      wait_for_checkpoint();
    }
    // The others leave after rank 0's checkpoint is written.
    generation.communicator->barrier(kCheckpointDeadline + std::chrono::seconds(10));
    settle(*generation.communicator);
    return stop ? End::kStopped : End::kLeaseLost;
  }
  if (at(flags, ControlFlag::kRegroup) > 0) {
    settle(*generation.communicator);
    return context_.orders.release() ? End::kReleased : End::kRegroup;
  }
  return std::nullopt;
}

Evaluation Trainer::evaluate(ActiveGeneration& generation) {
  Communicator& communicator = *generation.communicator;
  const Evaluation mine = context_.engine.evaluate(communicator.rank(), communicator.world_size());
  double sums[] = {mine.loss_sum,           double(mine.correct),
                   double(mine.count),      double(mine.correct_top5),
                   double(mine.count_top5), mine.is_text ? 1.0 : 0.0};
  communicator.set_timeout(kUnknownCollectiveTimeout);
  communicator.all_reduce_sum(sums, std::size(sums));
  context_.state.test_accuracy = sums[1] >= 0 && sums[2] > 0 ? sums[1] / sums[2] : -1;
  return {sums[0],
          std::int64_t(sums[1]),
          std::int64_t(sums[2]),
          std::int64_t(sums[3]),
          std::int64_t(sums[4]),
          sums[5] > 0};
}

// From here on a fault finds this rank at the start of the next epoch: the report is not sent
// twice.
void Trainer::close_epoch(ActiveGeneration& generation) {
  RunState& state = context_.state;
  ++state.epoch;
  state.samples_consumed = 0;
  state.epoch_steps = 0;
  state.epoch_loss_sum = state.epoch_train_s = 0;
  if (generation.rank() == 0) checkpoint();
}

void Trainer::checkpoint() {
  if (context_.spec.checkpoint_dir.empty()) return;
  if (!checkpoints_) {
    checkpoints_ = std::make_unique<CheckpointWriter>(
        CheckpointStore(context_.spec.checkpoint_dir, context_.spec.keep_checkpoints),
        training_identity(context_.spec));
  }
  checkpoints_->snapshot(context_.engine.state(), context_.state);
}

void Trainer::wait_for_checkpoint() {
  if (checkpoints_ && !checkpoints_->finish(kCheckpointDeadline)) {
    std::fprintf(stderr, "jabas-run: the last checkpoint is not there; an older one has to do\n");
  }
}

Trainer::End Trainer::finish(ActiveGeneration& generation) {
  report_switch(generation);
  if (generation.rank() == 0) {
    wait_for_checkpoint();
    export_weights();
    context_.control.send(Finished{context_.state.test_accuracy, context_.state.step});
  }
  settle(*generation.communicator);
  return End::kFinished;
}

// Parameters and buffers under their own names: "weight/conv1.weight" becomes "conv1.weight".
void Trainer::export_weights() {
  if (context_.spec.export_file.empty()) return;
  std::vector<StateTensor> exported;
  for (StateTensor tensor : context_.engine.state()) {
    for (const std::string prefix : {"weight/", "buffer/"}) {
      if (!tensor.name.starts_with(prefix)) continue;
      tensor.name.erase(0, prefix.size());
      exported.push_back(tensor);
      break;
    }
  }
  write_safetensors(context_.spec.export_file, exported, {{"format", "pt"}});
}

ExitCode Trainer::leave(End end) {
  const char* reason = "";
  ExitCode code = ExitCode::kOk;
  switch (end) {
    case End::kFinished:
      reason = "the training is finished";
      break;
    case End::kLeft:
      reason = "released at the boundary";
      break;
    case End::kReleased:
    case End::kStopped:
      reason = "released";
      break;
    case End::kLeaseLost:
      reason = "the daemon was silent for longer than its lease";
      code = ExitCode::kDaemonLost;
      break;
    case End::kRegroup:
      JABAS_ASSERT(false, "a regrouping worker stays");
  }
  const std::string ordered = context_.orders.reason();
  context_.control.send(Leaving{ordered.empty() ? reason : ordered});
  wait_for_checkpoint();
  return code;
}

}  // namespace jabas
