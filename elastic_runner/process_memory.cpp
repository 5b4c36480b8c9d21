#include "elastic_runner/process_memory.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

#include "allocator/error.h"
#include "allocator/text_file.h"

namespace jabas {
namespace {

constexpr double kKib = 1024;

// "VmHWM:   123 kB" in /proc/self/status, "MemAvailable: …" in /proc/meminfo.
double kib_field(const std::string& path, const std::string& key) {
  std::istringstream lines(read_text_file(path, "the memory in use"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key + ":")) return std::stod(line.substr(key.size() + 1)) * kKib;
  }
  return 0;
}

// Nothing where there is no such file or it says "max".
std::optional<double> number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  double value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

// A limit may stand at any level above the process.
double left_in_cgroup(const std::filesystem::path& root, std::filesystem::path group,
                      const char* limit, const char* usage) {
  double left = std::numeric_limits<double>::infinity();
  for (;; group = group.parent_path()) {
    const std::filesystem::path here = root / group.relative_path();
    const auto most = number_in(here / limit), used = number_in(here / usage);
    if (most && used) left = std::min(left, std::max(0.0, *most - *used));
    if (!group.has_relative_path()) return left;
  }
}

}  // namespace

// proc(5): sizes in pages, the resident one second. Cheaper than `status`: metrics ask at every
// step.
double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  double size = 0, resident = 0;
  if (!(statm >> size >> resident))
    throw IoError("cannot read the memory in use", "/proc/self/statm", errno);
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double peak_resident_bytes() { return kib_field("/proc/self/status", "VmHWM"); }

void reset_peak_resident_bytes() {
  constexpr char kResetPeak[] = "5";  // man 5 proc
  std::ofstream("/proc/self/clear_refs") << kResetPeak;
}

double available_bytes() {
  double available = kib_field("/proc/meminfo", "MemAvailable");
  // hierarchy:controllers:path; version 2 has no controllers.
  std::istringstream lines(read_text_file("/proc/self/cgroup", "the cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1),
                      group = line.substr(second + 1);
    if (controllers.empty()) {
      available = std::min(available,
                           left_in_cgroup("/sys/fs/cgroup", group, "memory.max", "memory.current"));
    } else if (controllers == "memory") {
      available =
          std::min(available, left_in_cgroup("/sys/fs/cgroup/memory", group,
                                             "memory.limit_in_bytes", "memory.usage_in_bytes"));
    }
  }
  return available;
}

}  // namespace jabas
