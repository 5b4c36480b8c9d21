#include "elastic_runner/resident_memory.h"

#include <unistd.h>

#include <fstream>

namespace jabas {

// proc(5): /proc/self/statm has sizes in pages, the resident one second.
std::int64_t resident_memory_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  if (!(statm >> size >> resident)) return 0;
  return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace jabas
