// The switch at an epoch boundary, as the ranks of the generation that trains (g) see it (shared
// design "resize" 3).
//
// (a) rank 0 of g broadcasts on g's communicator: stay, or the (generation, attempt) to switch to;
// (b) survivors and joiners meet at a barrier on the new communicator, deadline 5 s;
// (c) all ranks of g reduce the outcome (minimum) on g's communicator.
// 1: leavers go, g's communicator is dropped, rank 0 of g+1 gives state and plan to all.
// 0: all stay in g, g+1 is dropped and reported. No step of g+1 can commit without all, so a
// disagreement is harmless.
// A rank that no `prepare` of the new generation ever named is a leaver.
// Errors: CommError in (a) or (c) is a fault of g; after (c) it is a fault of g+1.
#pragma once

#include "elastic_runner/training_context.h"

namespace jabas {

enum class BoundaryResult {
  kStay,      // g trains on
  kSwitched,  // `generation` is the new one
  kLeft,      // this worker is no member of the new one
};

// `paused_since` = end of the last step and evaluation of g. With --local, rank 0 waits for the
// planned resize (deadline 120 s) when the epoch that begins has another number of workers.
BoundaryResult switch_at_boundary(TrainingContext& context, ActiveGeneration& generation,
                                  Clock::time_point paused_since);

}  // namespace jabas
