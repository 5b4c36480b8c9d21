#include "elastic_runner/generation_entry.h"

#include <cstdio>

#include "elastic_runner/checkpoint_store.h"
#include "elastic_runner/join_signal.h"
#include "elastic_runner/state_transfer.h"

namespace jabas {
namespace {

constexpr std::chrono::milliseconds kEntryBarrier{5000};

// Rank 0 of a generation in which nobody has trained. Under Slurm the checkpoint folder belongs to
// this run alone: if all workers were lost, or the job was requeued, new ones go on from there.
void load_if_resuming(TrainingContext& context) {
  const TrainingSpec& spec = context.spec;
  const bool own_folder = spec.workers_per_epoch.empty() && !spec.checkpoint_dir.empty();
  std::string directory = spec.resume_dir;
  if (own_folder && (directory.empty() || directory == spec.checkpoint_dir)) {
    directory = has_checkpoints(spec.checkpoint_dir) ? spec.checkpoint_dir : "";
  }
  if (directory.empty()) return;
  const CheckpointFound found = find_newest_checkpoint(directory, training_identity(spec));
  for (const auto& note : found.notes) std::fprintf(stderr, "jabas-run: %s\n", note.c_str());
  load_checkpoint_tensors(found, context.engine.state());
  context.state = found.state;
  std::fprintf(stderr, "jabas-run: resumed from %s: epoch %d, step %lld\n", found.path.c_str(),
               found.state.epoch, static_cast<long long>(found.state.step));
}

std::optional<Profile> snapshot_profile(const Prepare& prepare) {
  if (prepare.profile_json.empty()) return std::nullopt;
  return profile_from_json(prepare.profile_json,
                           "profile of generation " + std::to_string(prepare.generation));
}

}  // namespace

PlanResult plan_generation(const TrainingContext& context, const Prepare& prepare) {
  const auto profile = snapshot_profile(prepare);
  const PlanInput input{context.spec, prepare.members, usable_profile(profile, prepare.members),
                        context.state.epoch};
  return plan_for_generation(input, context.state, prepare.first);
}

ActiveGeneration begin_generation(TrainingContext& context, PreparedGeneration prepared, int giver,
                                  bool holds_same, std::optional<BatchPlan> plan) {
  ActiveGeneration generation;
  generation.prepare = std::move(prepared.prepare);
  generation.communicator = std::move(prepared.communicator);
  generation.profile = snapshot_profile(generation.prepare);
  Communicator& communicator = *generation.communicator;
  communicator.set_timeout(kUnknownCollectiveTimeout);
  broadcast_state(communicator, context.engine, context.state, giver, holds_same);
  std::string text;
  if (communicator.rank() == 0) {
    if (!plan) {
      PlanResult result = plan_generation(context, generation.prepare);
      if (!result.plan) {
        throw Error(
            ExitCode::kFailed,
            "generation " + std::to_string(generation.prepare.generation) + ": " + result.reason);
      }
      plan = std::move(result.plan);
    }
    text = to_json_text(*plan);
  }
  plan = batch_plan_from_json(broadcast_text(communicator, text, 0));
  context.state.generation = generation.prepare.generation;
  apply_plan(context, generation, *plan);
  if (context.spec.adaptive && context.state.adaptive.next_adjustment == 0) {
    context.state.adaptive.next_adjustment =
        next_adjustment_after(context.state.step, context.spec.adapt_every);
  }
  context.builder.set_training(generation.prepare.members);
  context.control.update_hello(
      [&](Hello& hello) { hello.generation_trained = context.state.generation; });
  return generation;
}

ActiveGeneration enter_first(TrainingContext& context, PreparedGeneration prepared) {
  Communicator& communicator = *prepared.communicator;
  communicator.set_timeout(kUnknownCollectiveTimeout);
  const auto positions = gather_positions(communicator, position_of(context.state));
  const int giver = state_giver(positions);
  const bool all_fresh = positions[std::size_t(giver)].generation == 0;
  if (all_fresh && communicator.rank() == 0) load_if_resuming(context);
  const bool holds_same =
      all_fresh ? communicator.rank() == 0
                : positions[std::size_t(communicator.rank())] == positions[std::size_t(giver)];
  return begin_generation(context, std::move(prepared), all_fresh ? 0 : giver, holds_same,
                          std::nullopt);
}

std::optional<ActiveGeneration> enter_as_joiner(TrainingContext& context,
                                                PreparedGeneration prepared) {
  Communicator& communicator = *prepared.communicator;
  for (JoinSignal signal = JoinSignal::kTick; signal != JoinSignal::kGo;) {
    communicator.recv(0, &signal, sizeof signal, kJoinSilence);
    if (context.orders.stop() || context.orders.release()) return std::nullopt;
  }
  communicator.barrier(kEntryBarrier);
  return begin_generation(context, std::move(prepared), 0, false, std::nullopt);
}

}  // namespace jabas
