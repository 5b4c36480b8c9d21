// A file's bytes, mapped read-only: processes on a node share the memory, and only what is used is
// read.
// Ownership: unmapped with the object; moving keeps the address.   Threads: const, safe to share.
// Errors: InputError naming file and reason. A file that shrinks while it is mapped kills the
//         process (SIGBUS): data sets must not change under a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace jabas {

class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  const std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::string path_;
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace jabas
