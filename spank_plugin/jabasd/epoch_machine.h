// What state a run is in, and what an event does to it: a table, nothing else. The daemon performs
// the actions.
//
// Fits: daemon feeds events and executes the returned actions in order; docs/protocol.md shows the
// same table. Threads: pure functions.   Errors: a pair without an entry is `defined == false`,
// state unchanged; the daemon logs and counts it.
#pragma once

#include <iosfwd>
#include <vector>

namespace jabas {

enum class RunState {
  kStarting,    // the daemon is up, no `train` has said hello yet
  kWaiting,     // members are asked for, not enough are ready
  kRecovering,  // a generation is built that does not continue a training one: the first, or after
                // a loss
  kRunning,     // a generation trains, none is in preparation
  kResizing,    // a generation trains, the next one is in preparation
  kFinishing,   // the last epoch is done or the console is gone: members are leaving
  kDraining,    // the daemon was told to end, members are being cancelled
  kDone,        // the run is over, nothing is held; another `train` may come
  kFailed,      // as finishing, after an error: the run cannot go on
};
constexpr int kRunStateCount = 9;

enum class RunEvent {
  kTrainAccepted,  // a console said hello with valid arguments
  kSetReady,       // enough ready workers for the generation wanted next
  kSwitched,       // the prepared generation trains
  kDropped,        // the prepared generation was given up
  kWorkerLost,     // a worker of the training (or first) generation is gone, others are left
  kAllLost,        // no worker is left
  kTrainFinished,  // rank 0 has finished the last epoch
  kConsoleGone,    // the console said goodbye or fell silent
  kFatal,          // the run cannot go on; the reason is known to the daemon
  kTerminate,      // SIGTERM
  kMembersGone,    // nothing of the run is left in Slurm, or the time for it has passed
};
constexpr int kRunEventCount = 11;

enum class RunAction {
  kDecideFirstSet,   // ask Slurm and the prices, decide, request
  kPrepareFirst,     // begin a generation that is committed to every member
  kPreparePlanned,   // begin the next generation while the present one trains
  kAskReplacements,  // bring the requests up to the wanted set again
  kReleaseAll,       // no new request, cancel what pends, let workers leave, then cancel the rest
  kCancelAll,        // cancel every member by name at once
  kRecordEnd,        // journal the end and stop the console
  kExit,             // leave the event loop
};

struct Transition {
  bool defined = false;
  RunState next = RunState::kStarting;
  std::vector<RunAction> actions;
};

Transition transition(RunState state, RunEvent event);

// A generation trains in this state.
bool trains(RunState state);
// A run is going on: a second `train` is refused.
bool active(RunState state);

std::ostream& operator<<(std::ostream& out, RunState state);
std::ostream& operator<<(std::ostream& out, RunEvent event);
std::ostream& operator<<(std::ostream& out, RunAction action);

}  // namespace jabas
