#include "allocator/error.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace jabas {

IoError::IoError(const std::string& what, const std::string& path, int error_number)
    : Error(ExitCode::kInput, what + ": " + path + ": " + std::strerror(error_number)) {}

void assertion_failed(const char* condition, const char* file, int line, const std::string& detail) {
  std::fprintf(stderr, "%s:%d: assertion failed: %s: %s\n", file, line, condition, detail.c_str());
  std::abort();
}

}  // namespace jabas
