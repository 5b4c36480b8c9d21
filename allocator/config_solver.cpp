#include "allocator/config_solver.h"

#include "allocator/error.h"
#include "allocator/step_solver.h"

namespace jabas {

RankedGpus ranked(const GpuCounts& gpus, const Profile& profile) {
  RankedGpus result{{}, 0};
  for (const auto& [type, count] : gpus) {
    const auto known = profile.types.find(type);
    const int per_node = known == profile.types.end() ? 1 : known->second.gpus_per_node;
    result.types.insert(result.types.end(), std::size_t(count), type);
    result.nodes += (count + per_node - 1) / per_node;
  }
  return result;
}

Solution solve(const RankedGpus& gpus, std::int64_t local_batch, std::int64_t virtual_workers,
               const ThroughputModel& model) {
  if (gpus.types.empty()) return {std::nullopt, "no GPU"};
  for (const std::string& type : gpus.types)
    if (!model.find(type)) return {std::nullopt, "the profile has no GPU type " + type};
  if (local_batch < 1)
    return {std::nullopt, "local batch " + std::to_string(local_batch) + " is below 1"};
  const std::size_t all_gpus = gpus.types.size() * std::size_t(gpus.unit);
  if (virtual_workers < std::int64_t(all_gpus))
    return {std::nullopt, std::to_string(virtual_workers) + " virtual workers are fewer than " +
                              std::to_string(all_gpus) + " GPUs"};
  if (virtual_workers % gpus.unit != 0)
    return {std::nullopt, std::to_string(virtual_workers) +
                              " virtual workers cannot be shared out to units of " +
                              std::to_string(gpus.unit) + " GPUs"};
  StepSolver solver(gpus, model);
  if (std::string misfit = solver.misfit(local_batch); !misfit.empty())
    return {std::nullopt, std::move(misfit)};
  const std::int64_t workers = virtual_workers / gpus.unit;
  solver.set_local_batch(local_batch, workers);
  Configuration configuration = solver.solve(workers);
  configuration.virtual_workers = virtual_workers;
  return {std::move(configuration), ""};
}

Solution solve(const RankedGpus& gpus, std::int64_t local_batch, std::int64_t virtual_workers,
               const Profile& profile) {
  return solve(gpus, local_batch, virtual_workers, ThroughputModel(profile));
}

Configuration even_split(int gpus, std::int64_t local_batch, std::int64_t virtual_workers) {
  JABAS_ASSERT(gpus >= 1 && virtual_workers >= gpus,
               std::to_string(virtual_workers) + " workers on " + std::to_string(gpus) + " GPUs");
  Configuration configuration{local_batch, virtual_workers, {}, 0};
  for (int rank = 0; rank < gpus; ++rank) {
    const bool one_more = rank < virtual_workers % gpus;
    configuration.shares.push_back({int(virtual_workers / gpus) + (one_more ? 1 : 0), 0});
  }
  return configuration;
}

double compute_time_s(const Profile& profile, const std::string& type, std::int64_t local_batch,
                      int streams, int accum_steps) {
  const auto found = profile.types.find(type);
  if (found == profile.types.end())
    throw InputError(profile.source + ": types." + type +
                     ": is missing: the profile has no times for this GPU type");
  const PassTimes pass = TypeModel(found->second).pass(local_batch, streams);
  return pass.data_s + (pass.data_s + pass.forward_s + pass.backward_s) * accum_steps +
         pass.forward_s + pass.backward_s;
}

}  // namespace jabas
