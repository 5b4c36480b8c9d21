#include "elastic_runner/training_context.h"

namespace jabas {

void apply_plan(TrainingContext& context, ActiveGeneration& generation, const BatchPlan& plan) {
  generation.split = plan.configuration;
  context.state.local_batch = plan.configuration.local_batch;
  context.state.virtual_workers = plan.configuration.virtual_workers;
  context.state.adaptive = plan.adaptive;
  const GpuShare& share = generation.share();
  context.engine.configure(share.streams, share.accum_steps, plan.configuration.local_batch);
  if (context.spec.device != "emulated" || generation.emulation) return;
  const auto& profile = context.emulation_profile ? context.emulation_profile : generation.profile;
  if (!profile)
    throw UsageError("--device=emulated: needs --emulate FILE, or --jabas-profile at submission");
  const auto& member = generation.prepare.members[std::size_t(generation.rank())];
  generation.emulation.emplace(*profile, context.spec.emulate_scale,
                               emulated_type(*profile, member.gpu_type, context.own_gpu_type));
}

void settle(Communicator& communicator) {
  try {
    communicator.barrier(std::chrono::milliseconds(2000));
  } catch (const CommError&) {
    // See the header.
  }
}

}  // namespace jabas
