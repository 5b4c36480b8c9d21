#include "spank_plugin/jabasd/pending_reason.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace jabas {

PendingKind pending_kind(const std::string& reason) {
  // Blanks in some tools, underscores in others.
  std::string word = reason;
  std::replace(word.begin(), word.end(), ' ', '_');
  static constexpr std::array<std::string_view, 14> kNever = {"launch_failed_requeued_held",
                                                              "JobHeldAdmin",
                                                              "JobHeldUser",
                                                              "BadConstraints",
                                                              "DependencyNeverSatisfied",
                                                              "InvalidAccount",
                                                              "InvalidQOS",
                                                              "PartitionTimeLimit",
                                                              "PartitionNodeLimit",
                                                              "PartitionInactive",
                                                              "AssocMaxWallDurationPerJobLimit",
                                                              "QOSMaxWallDurationPerJobLimit",
                                                              "SystemFailure",
                                                              "JobLaunchFailure"};
  for (const std::string_view never : kNever) {
    if (word.find(never) != std::string::npos) return PendingKind::kNever;
  }
  if (word.empty() || word == "None" || word == "BeginTime") return PendingKind::kSoon;
  return PendingKind::kWaiting;
}

bool ended_state(const std::string& state) {
  // A state that a later Slurm adds counts as alive: a job is given up only when that is certain.
  static constexpr std::array<std::string_view, 10> kEnded = {
      "BOOT_FAIL", "CANCELLED", "COMPLETED",     "COMPLETING", "DEADLINE",
      "FAILED",    "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",  "TIMEOUT"};
  return std::find(kEnded.begin(), kEnded.end(), state) != kEnded.end();
}

}  // namespace jabas
