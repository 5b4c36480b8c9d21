// What the new rank 0 sends to the joiners on the new communicator: ticks while they wait, then
// the start of the switch. A joiner needs no daemon to learn of the switch; a silent rank 0 is
// noticed after kJoinSilence.
#pragma once

#include <chrono>
#include <cstdint>

namespace jabas {

enum class JoinSignal : std::int64_t { kTick = 1, kGo = 2 };

constexpr std::chrono::milliseconds kTickInterval{5000};
constexpr std::chrono::milliseconds kTickDeadline{5000};
constexpr std::chrono::milliseconds kJoinSilence{30000};

}  // namespace jabas
