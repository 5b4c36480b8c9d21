// Emulated devices: how long a step's computing takes on the GPU type that a worker stands for.
// The engine computes real gradients on the CPU and sleeps until this time has passed before it
// publishes its last bucket.
// Units: seconds.
// Errors: InputError if the profile lacks the type; names the types it has.
#pragma once

#include <optional>
#include <string>

#include "allocator/config_solver.h"
#include "allocator/control_messages.h"
#include "allocator/profile.h"
#include "allocator/throughput_model.h"

namespace jabas {

class Emulation {
 public:
  Emulation(Profile profile, double scale, std::string gpu_type);
  // D + (D+F+K)·a + F + K of a full step at (b, V, a), times the scale; a short last step takes its
  // part of it.
  double compute_s(std::int64_t local_batch, const GpuShare& share, double part_of_step) const;
  // What the emulated GPU would measure of itself: data, forward, backward and update of one
  // concurrent pass, times the scale; with accumulation steps of a whole step.
  StepTimes measured(std::int64_t local_batch, const GpuShare& share) const;
  bool fits(std::int64_t local_batch, int streams) const;
  // The all-reduce of a step on the GPUs that `members` stand for, by the profile's network.
  AllReduceTimes all_reduce(const std::vector<PlanMember>& members, std::int64_t local_batch) const;

 private:
  Profile profile_;
  double scale_;
  std::string gpu_type_;
};

// The type an emulated worker stands for: `planned` by the daemon, else `own` (JABAS_GPU_TYPE),
// else the profile's first.
std::string emulated_type(const Profile& profile, const std::string& planned,
                          const std::string& own);

}  // namespace jabas
