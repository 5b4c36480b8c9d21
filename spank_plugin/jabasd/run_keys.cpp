#include "spank_plugin/jabasd/run_keys.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "allocator/error.h"

namespace jabas {
namespace {

constexpr std::size_t kKeyCharacters = 40;

std::string read_key(const std::string& path) {
  std::string text = read_small_file(path);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (!text.empty() && text.size() != kKeyCharacters) {
    throw InputError(path + ": " + std::to_string(text.size()) +
                     " characters, expected a key of 40; remove the directory to make new keys");
  }
  return text;
}

}  // namespace

void make_private_directory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return;
  const std::size_t slash = path.rfind('/');
  if (errno == ENOENT && slash != std::string::npos && slash > 0) {
    make_private_directory(path.substr(0, slash));
    if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return;
  }
  throw IoError("cannot make directory", path, errno);
}

void write_private_file(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".tmp";
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) throw IoError("cannot write", temporary, errno);
  const ssize_t written = write(fd, text.data(), text.size());
  const int write_error = written < 0 ? errno : ENOSPC;
  const bool complete = written == ssize_t(text.size()) && fsync(fd) == 0;
  close(fd);
  if (!complete) throw IoError("cannot write", temporary, write_error);
  if (rename(temporary.c_str(), path.c_str()) != 0) throw IoError("cannot rename to", path, errno);
}

std::string read_small_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return "";
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

RunKeys load_or_make_keys(const std::string& directory, RunKeys (*make)()) {
  make_private_directory(directory);
  RunKeys keys;
  struct Entry {
    const char* name;
    std::string* value;
  };
  const std::array<Entry, 4> files = {Entry{"server.pub", &keys.server_public},
                                      {"server.key", &keys.server_secret},
                                      {"client.pub", &keys.client_public},
                                      {"client.key", &keys.client_secret}};
  bool complete = true;
  for (const auto& [name, value] : files) {
    *value = read_key(directory + "/" + name);
    complete = complete && !value->empty();
  }
  if (complete) return keys;
  keys = make();
  for (const auto& [name, value] : files) write_private_file(directory + "/" + name, *value + "\n");
  return keys;
}

}  // namespace jabas
