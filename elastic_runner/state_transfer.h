// Training state over a communicator: texts of unknown length, positions, and RunState with all
// tensors. Every rank of the communicator must call the same function.
// Errors: CommError.
#pragma once

#include <string>
#include <vector>

#include "elastic_runner/communicator.h"
#include "elastic_runner/iidp_engine.h"
#include "elastic_runner/run_state.h"

namespace jabas {

// The root's text, on every rank.
std::string broadcast_text(Communicator& communicator, const std::string& text, int root);

std::vector<RunPosition> gather_positions(Communicator& communicator, const RunPosition& mine);
// The rank that gives its state: the most advanced one, the lowest of equals.
int state_giver(const std::vector<RunPosition>& positions);

// RunState, weights, optimizer state and buffers of `giver` to every rank. `holds_same`: this rank
// already has exactly that state. A rank that does not counts as fresh if the transfer breaks,
// since its tensors are then a mixture.
void broadcast_state(Communicator& communicator, IidpEngine& engine, RunState& state, int giver,
                     bool holds_same);

}  // namespace jabas
