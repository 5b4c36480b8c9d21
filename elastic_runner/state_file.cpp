#include "elastic_runner/state_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "allocator/error.h"

namespace jabas {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "safetensors is little-endian");

constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);
constexpr std::size_t kAlignment = 8;  // of the data that follows the header

// A file that appears under its name complete or not at all.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path)
      : path_(std::move(path)), temporary_(path_ + ".tmp." + std::to_string(::getpid())) {
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd_ < 0) throw IoError("cannot create", temporary_, errno);
  }
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  void write(const void* data, std::size_t bytes) {
    const auto* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t written = ::write(fd_, from, bytes);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw IoError("cannot write", temporary_, errno);
      from += written;
      bytes -= static_cast<std::size_t>(written);
    }
  }

  void commit() {
    if (::fsync(fd_) != 0) throw IoError("cannot sync", temporary_, errno);
    if (::close(std::exchange(fd_, -1)) != 0) throw IoError("cannot close", temporary_, errno);
    if (::rename(temporary_.c_str(), path_.c_str()) != 0)
      throw IoError("cannot rename to", path_, errno);
    temporary_.clear();
    sync_directory();
  }

 private:
  // Without this the new name may be lost in a crash.
  void sync_directory() const {
    const auto parent = std::filesystem::path(path_).parent_path();
    const std::string directory = parent.empty() ? "." : parent.string();
    const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) throw IoError("cannot open", directory, errno);
    const int result = ::fsync(fd), error_number = errno;
    ::close(fd);
    if (result != 0) throw IoError("cannot sync", directory, error_number);
  }

  std::string path_, temporary_;
  int fd_ = -1;
};

std::string header_text(const std::vector<StateTensor>& tensors,
                        const std::map<std::string, std::string>& metadata) {
  json header = json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t begin = 0;
  for (const auto& tensor : tensors) {
    JABAS_ASSERT(!header.contains(tensor.name), tensor.name + " is written twice");
    header[tensor.name] = {{"dtype", tensor.dtype},
                           {"shape", tensor.shape},
                           {"data_offsets", {begin, begin + tensor.bytes}}};
    begin += tensor.bytes;
  }
  std::string text = header.dump();
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  return text;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw InputError(path + ": cannot be opened: " + std::strerror(errno));
  std::string content(static_cast<std::size_t>(file.tellg()), '\0');
  file.seekg(0);
  if (!file.read(content.data(), static_cast<std::streamsize>(content.size())))
    throw InputError(path + ": cannot be read: " + std::strerror(errno));
  return content;
}

std::string shape_text(const std::vector<std::int64_t>& shape) { return json(shape).dump(); }

// One safetensors file in memory, its header checked as far as it concerns all tensors.
class Content {
 public:
  explicit Content(const std::string& path) : path_(path), content_(read_file(path)) {
    if (content_.size() < kLengthBytes) refuse("truncated: no header length");
    std::uint64_t length = 0;
    std::memcpy(&length, content_.data(), kLengthBytes);
    if (length > content_.size() - kLengthBytes)
      refuse("truncated or not safetensors: header of " + std::to_string(length) +
             " bytes in a file of " + std::to_string(content_.size()));
    data_ = kLengthBytes + length;
    header_ = json::parse(content_.begin() + kLengthBytes,
                          content_.begin() + static_cast<std::ptrdiff_t>(data_), nullptr, false);
    if (!header_.is_object()) refuse("bad header: not a JSON object");
  }

  std::map<std::string, std::string> metadata() const {
    std::map<std::string, std::string> metadata;
    const auto entries = header_.find("__metadata__");
    if (entries == header_.end()) return metadata;
    if (!entries->is_object()) refuse("bad header: __metadata__ is not an object");
    for (const auto& [key, value] : entries->items()) {
      if (!value.is_string()) refuse("bad header: __metadata__." + key + " is not a string");
      metadata[key] = value.get<std::string>();
    }
    return metadata;
  }

  // The bytes of `expected` in the file.
  const char* find(const StateTensor& expected) const {
    const auto entry = header_.find(expected.name);
    if (entry == header_.end()) refuse("has no tensor " + expected.name);
    try {
      const auto dtype = entry->at("dtype").get<std::string>();
      if (dtype != expected.dtype)
        refuse(expected.name + " is " + dtype + ", expected " + expected.dtype);
      const auto shape = entry->at("shape").get<std::vector<std::int64_t>>();
      if (shape != expected.shape)
        refuse(expected.name + " has shape " + shape_text(shape) + ", expected " +
               shape_text(expected.shape));
      const auto offsets = entry->at("data_offsets").get<std::vector<std::uint64_t>>();
      if (offsets.size() != 2 || offsets[1] < offsets[0] ||
          offsets[1] - offsets[0] != expected.bytes)
        refuse("bad header: data_offsets of " + expected.name + " do not hold " +
               std::to_string(expected.bytes) + " bytes");
      if (offsets[1] > content_.size() - data_)
        refuse("truncated: " + expected.name + " ends after the end of the file");
      return content_.data() + data_ + offsets[0];
    } catch (const json::exception&) {
      refuse("bad header: entry of " + expected.name + " is not {dtype, shape, data_offsets}");
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& reason) const {
    throw InputError(path_ + ": " + reason);
  }

  const std::string path_;
  const std::string content_;
  std::size_t data_ = 0;
  json header_;
};

}  // namespace

void write_safetensors(const std::string& path, const std::vector<StateTensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::string header = header_text(tensors, metadata);
  const std::uint64_t length = header.size();
  AtomicFile file(path);
  file.write(&length, kLengthBytes);
  file.write(header.data(), header.size());
  for (const auto& tensor : tensors) file.write(tensor.data, tensor.bytes);
  file.commit();
}

std::map<std::string, std::string> read_safetensors(const std::string& path,
                                                    const std::vector<StateTensor>& tensors) {
  const Content content(path);
  auto metadata = content.metadata();
  // All are checked before the first is copied: a bad file leaves the state as it was.
  std::vector<const char*> sources;
  for (const auto& tensor : tensors) sources.push_back(content.find(tensor));
  for (std::size_t i = 0; i < tensors.size(); ++i)
    std::memcpy(tensors[i].data, sources[i], tensors[i].bytes);
  return metadata;
}

}  // namespace jabas
