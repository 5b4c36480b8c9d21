#include "elastic_runner/snapshot_memory.h"

#include <sys/mman.h>

#include <new>
#include <utility>

namespace jabas {

SnapshotMemory::~SnapshotMemory() {
  if (data_ != nullptr) ::munmap(data_, capacity_);
}

SnapshotMemory::SnapshotMemory(SnapshotMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}

SnapshotMemory& SnapshotMemory::operator=(SnapshotMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(capacity_, other.capacity_);
  return *this;
}

char* SnapshotMemory::reserve(std::size_t bytes) {
  if (bytes > capacity_) {
    *this = SnapshotMemory();
    void* data =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
    ::madvise(data, bytes, MADV_HUGEPAGE);  // only a wish
    data_ = data;
    capacity_ = bytes;
  }
  return static_cast<char*>(data_);
}

}  // namespace jabas
