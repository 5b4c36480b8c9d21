#include "elastic_runner/state_transfer.h"

#include <algorithm>

namespace jabas {

std::string broadcast_text(Communicator& communicator, const std::string& text, int root) {
  std::uint64_t size = text.size();
  communicator.broadcast(&size, sizeof size, root);
  std::string result = communicator.rank() == root ? text : std::string(size, '\0');
  if (size > 0) communicator.broadcast(result.data(), size, root);
  return result;
}

std::vector<RunPosition> gather_positions(Communicator& communicator, const RunPosition& mine) {
  std::vector<RunPosition> all(std::size_t(communicator.world_size()));
  communicator.all_gather(&mine, sizeof mine, all.data());
  return all;
}

int state_giver(const std::vector<RunPosition>& positions) {
  return int(std::max_element(positions.begin(), positions.end()) - positions.begin());
}

void broadcast_state(Communicator& communicator, IidpEngine& engine, RunState& state, int giver,
                     bool holds_same) {
  const RunState given =
      run_state_from_json(broadcast_text(communicator, to_json_text(state), giver));
  if (!holds_same) state = RunState{};
  for (auto& tensor : engine.state()) {
    if (tensor.bytes > 0) communicator.broadcast(tensor.data, tensor.bytes, giver);
  }
  state = given;
}

}  // namespace jabas
