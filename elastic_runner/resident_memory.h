// Memory of this process that is in RAM, as the kernel counts it.
#pragma once

#include <cstdint>

namespace jabas {

// 0 if the kernel does not tell (no /proc).
std::int64_t resident_memory_bytes();

}  // namespace jabas
