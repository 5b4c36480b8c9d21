#include "elastic_runner/emulation.h"

#include <set>

#include "allocator/error.h"

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

AllReduceTimes Emulation::all_reduce(const std::vector<PlanMember>& members,
                                     std::int64_t local_batch) const {
  std::set<std::string> hosts, types;
  for (const PlanMember& member : members) {
    hosts.insert(member.host);
    types.insert(member.gpu_type.empty() ? gpu_type_ : member.gpu_type);
  }
  const ThroughputModel model(profile_);
  AllReduceTimes times;
  for (const std::string& type : types) {
    if (const TypeModel* known = model.find(type))
      times = slower(times, known->all_reduce(int(members.size()), int(hosts.size()), local_batch));
  }
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
