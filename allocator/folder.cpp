#include "allocator/folder.h"

#include <algorithm>
#include <filesystem>

#include "allocator/error.h"

namespace jabas {

std::vector<std::string> folder_entries(const std::string& path, const std::string& what) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(path, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with('.')) names.push_back(name);
  }
  if (error) throw IoError("cannot read " + what, path, error.value());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace jabas
