#include "spank_plugin/jabasd/epoch_machine.h"

#include <array>
#include <ostream>

namespace jabas {
namespace {

using S = RunState;
using E = RunEvent;
using A = RunAction;

struct Row {
  S state;
  E event;
  S next;
  std::vector<A> actions;
};

const std::vector<Row>& table() {
  static const std::vector<Row> rows = {
      {S::kStarting, E::kTrainAccepted, S::kWaiting, {A::kDecideFirstSet}},
      {S::kStarting, E::kTerminate, S::kDraining, {A::kCancelAll}},

      {S::kWaiting, E::kSetReady, S::kRecovering, {A::kPrepareFirst}},
      {S::kWaiting, E::kWorkerLost, S::kWaiting, {A::kAskReplacements}},
      {S::kWaiting, E::kAllLost, S::kWaiting, {A::kAskReplacements}},
      {S::kWaiting, E::kConsoleGone, S::kFinishing, {A::kCancelAll}},
      {S::kWaiting, E::kFatal, S::kFailed, {A::kReleaseAll}},
      {S::kWaiting, E::kTerminate, S::kDraining, {A::kCancelAll}},

      {S::kRecovering, E::kSwitched, S::kRunning, {A::kAskReplacements}},
      {S::kRecovering, E::kDropped, S::kWaiting, {A::kAskReplacements}},
      {S::kRecovering, E::kWorkerLost, S::kRecovering, {}},
      {S::kRecovering, E::kAllLost, S::kWaiting, {A::kAskReplacements}},
      {S::kRecovering, E::kConsoleGone, S::kFinishing, {A::kCancelAll}},
      {S::kRecovering, E::kFatal, S::kFailed, {A::kReleaseAll}},
      {S::kRecovering, E::kTerminate, S::kDraining, {A::kCancelAll}},

      {S::kRunning, E::kSetReady, S::kResizing, {A::kPreparePlanned}},
      {S::kRunning, E::kWorkerLost, S::kRecovering, {A::kPrepareFirst}},
      {S::kRunning, E::kAllLost, S::kWaiting, {A::kAskReplacements}},
      {S::kRunning, E::kTrainFinished, S::kFinishing, {A::kReleaseAll}},
      {S::kRunning, E::kConsoleGone, S::kFinishing, {A::kCancelAll}},
      {S::kRunning, E::kFatal, S::kFailed, {A::kReleaseAll}},
      {S::kRunning, E::kTerminate, S::kDraining, {A::kCancelAll}},

      {S::kResizing, E::kSwitched, S::kRunning, {A::kAskReplacements}},
      {S::kResizing, E::kDropped, S::kRunning, {}},
      {S::kResizing, E::kWorkerLost, S::kRecovering, {A::kPrepareFirst}},
      {S::kResizing, E::kAllLost, S::kWaiting, {A::kAskReplacements}},
      {S::kResizing, E::kTrainFinished, S::kFinishing, {A::kReleaseAll}},
      {S::kResizing, E::kConsoleGone, S::kFinishing, {A::kCancelAll}},
      {S::kResizing, E::kFatal, S::kFailed, {A::kReleaseAll}},
      {S::kResizing, E::kTerminate, S::kDraining, {A::kCancelAll}},

      // While members leave, losses and the last words of a generation change nothing.
      {S::kFinishing, E::kSwitched, S::kFinishing, {}},
      {S::kFinishing, E::kDropped, S::kFinishing, {}},
      {S::kFinishing, E::kWorkerLost, S::kFinishing, {}},
      {S::kFinishing, E::kAllLost, S::kFinishing, {}},
      {S::kFinishing, E::kConsoleGone, S::kFinishing, {}},
      {S::kFinishing, E::kTerminate, S::kDraining, {A::kCancelAll}},
      {S::kFinishing, E::kMembersGone, S::kDone, {A::kRecordEnd}},

      {S::kFailed, E::kSwitched, S::kFailed, {}},
      {S::kFailed, E::kDropped, S::kFailed, {}},
      {S::kFailed, E::kWorkerLost, S::kFailed, {}},
      {S::kFailed, E::kAllLost, S::kFailed, {}},
      {S::kFailed, E::kConsoleGone, S::kFailed, {}},
      {S::kFailed, E::kTerminate, S::kDraining, {A::kCancelAll}},
      {S::kFailed, E::kMembersGone, S::kDone, {A::kRecordEnd}},

      {S::kDraining, E::kSwitched, S::kDraining, {}},
      {S::kDraining, E::kDropped, S::kDraining, {}},
      {S::kDraining, E::kWorkerLost, S::kDraining, {}},
      {S::kDraining, E::kAllLost, S::kDraining, {}},
      {S::kDraining, E::kTrainFinished, S::kDraining, {}},
      {S::kDraining, E::kConsoleGone, S::kDraining, {}},
      {S::kDraining, E::kTerminate, S::kDraining, {}},
      {S::kDraining, E::kMembersGone, S::kDone, {A::kRecordEnd, A::kExit}},

      {S::kDone, E::kTrainAccepted, S::kWaiting, {A::kDecideFirstSet}},
      {S::kDone, E::kConsoleGone, S::kDone, {}},
      {S::kDone, E::kTerminate, S::kDraining, {A::kCancelAll}},
      {S::kDone, E::kWorkerLost, S::kDone, {}},
      {S::kDone, E::kAllLost, S::kDone, {}},
  };
  return rows;
}

template <std::size_t N>
const char* name_of(const std::array<const char*, N>& names, int index) {
  return index >= 0 && index < int(N) ? names[std::size_t(index)] : "?";
}

}  // namespace

Transition transition(RunState state, RunEvent event) {
  for (const Row& row : table()) {
    if (row.state == state && row.event == event) return {true, row.next, row.actions};
  }
  return {false, state, {}};
}

bool trains(RunState state) { return state == S::kRunning || state == S::kResizing; }

bool active(RunState state) {
  return state == S::kWaiting || state == S::kRecovering || trains(state) ||
         state == S::kFinishing || state == S::kFailed || state == S::kDraining;
}

std::ostream& operator<<(std::ostream& out, RunState state) {
  static constexpr std::array<const char*, kRunStateCount> kNames = {
      "starting",  "waiting",  "recovering", "running", "resizing",
      "finishing", "draining", "done",       "failed"};
  return out << name_of(kNames, int(state));
}

std::ostream& operator<<(std::ostream& out, RunEvent event) {
  static constexpr std::array<const char*, kRunEventCount> kNames = {
      "train_accepted", "set_ready",    "switched", "dropped",   "worker_lost", "all_lost",
      "train_finished", "console_gone", "fatal",    "terminate", "members_gone"};
  return out << name_of(kNames, int(event));
}

std::ostream& operator<<(std::ostream& out, RunAction action) {
  static constexpr std::array<const char*, 8> kNames = {
      "decide_first_set", "prepare_first", "prepare_planned", "ask_replacements",
      "release_all",      "cancel_all",    "record_end",      "exit"};
  return out << name_of(kNames, int(action));
}

}  // namespace jabas
