// Memory for copies of the training state: large, written at once, reused.
//
// In huge pages where the kernel has them, so that the first copy does not wait for one page fault
// per 4 KiB; what is reused waits for none.
// Threads: one at a time.   Errors: std::bad_alloc.
#pragma once

#include <cstddef>

namespace jabas {

class SnapshotMemory {
 public:
  SnapshotMemory() = default;
  ~SnapshotMemory();
  SnapshotMemory(SnapshotMemory&& other) noexcept;
  SnapshotMemory& operator=(SnapshotMemory&& other) noexcept;

  // At least so many bytes; their contents are undefined.
  char* reserve(std::size_t bytes);
  std::size_t capacity() const { return capacity_; }

 private:
  void* data_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace jabas
