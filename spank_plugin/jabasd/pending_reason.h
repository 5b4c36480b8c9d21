// What Slurm's reason for a pending job means for the run. Pure.
#pragma once

#include <string>

namespace jabas {

enum class PendingKind {
  kSoon,     // no reason yet, or it is about to start
  kWaiting,  // for resources, priority or a limit that may lift: keep it, show the reason
  kNever,    // held, launch failed, impossible: cancel it, it will not start
};
PendingKind pending_kind(const std::string& reason);

// The job has ended (or is completing): it holds no worker any more.
bool ended_state(const std::string& state);

}  // namespace jabas
