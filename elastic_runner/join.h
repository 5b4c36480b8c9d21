// `jabas-run join --workers N`: what a member job runs. Starts one worker process per GPU and
// waits for them.
//
// Asks squeue first whether the lead is still there: if not, it leaves at once. All workers of a
// member go together: when one dies the others are ended and the reason is printed. Workers never
// outlive it (parent-death signal). SIGTERM (scancel, preemption) is passed on: the workers leave
// at an agreed step.
#pragma once

#include <string>

namespace jabas {

// Returns the program's exit code: 0 if the lead is gone or all workers ended properly, else the
// first failure's.
int run_join(int workers, const std::string& executable);

}  // namespace jabas
