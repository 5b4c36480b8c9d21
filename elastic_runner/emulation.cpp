#include "elastic_runner/emulation.h"

#include "allocator/error.h"
#include "allocator/throughput_model.h"

namespace jabas {

Emulation::Emulation(Profile profile, double scale, std::string gpu_type)
    : profile_(std::move(profile)), scale_(scale), gpu_type_(std::move(gpu_type)) {
  if (profile_.types.contains(gpu_type_)) return;
  std::string known;
  for (const auto& [type, unused] : profile_.types) known += (known.empty() ? "" : ", ") + type;
  throw InputError(profile_.source + ": no GPU type '" + gpu_type_ + "' to emulate; it has " +
                   known);
}

double Emulation::compute_s(std::int64_t local_batch, const GpuShare& share,
                            double part_of_step) const {
  return scale_ * part_of_step *
         compute_time_s(profile_, gpu_type_, local_batch, share.streams, share.accum_steps);
}

StepTimes Emulation::measured(std::int64_t local_batch, const GpuShare& share) const {
  const TypeModel model(profile_.types.at(gpu_type_));
  const PassTimes pass = model.pass(local_batch, share.streams);
  const double passes = scale_ * (share.accum_steps + 1);
  StepTimes times;
  times.data_s = pass.data_s * passes;
  times.forward_s = pass.forward_s * passes;
  times.backward_s = pass.backward_s * passes;
  times.update_s = model.update_s() * scale_;
  return times;
}

bool Emulation::fits(std::int64_t local_batch, int streams) const {
  return streams <= TypeModel(profile_.types.at(gpu_type_)).max_streams(local_batch);
}

std::string emulated_type(const Profile& profile, const std::string& planned,
                          const std::string& own) {
  if (!planned.empty()) return planned;
  if (!own.empty()) return own;
  return profile.types.empty() ? "" : profile.types.begin()->first;
}

}  // namespace jabas
