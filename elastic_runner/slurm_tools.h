// The two questions a member asks Slurm itself: is the lead still there, and cancel what the run
// has queued. Each call has a deadline of 5 s.
// Errors: none; no answer is a value.
#pragma once

#include <string>

namespace jabas {

enum class LeadState { kPresent, kGone, kUnknown };  // unknown: no answer in time

// `run` = "<lead job id>.<restart>" (JABAS_MEMBER).
LeadState ask_for_lead(const std::string& run);
// scancel of every job of this user named "jabas-<run>".
void cancel_jobs_of_run(const std::string& run);

}  // namespace jabas
