#include "elastic_runner/text_corpus.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "allocator/error.h"
#include "elastic_runner/sample_subset.h"

namespace jabas {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLicences = "/usr/share/common-licenses";
constexpr std::int64_t kTestShare = 10;  // one of so many samples

std::vector<fs::path> files_of(const fs::path& root) {
  std::error_code error;
  const auto status = fs::status(root, error);
  if (!fs::exists(status)) throw InputError(root.string() + ": no such file or folder");
  if (fs::is_regular_file(status)) return {root};
  std::vector<fs::path> files;
  fs::recursive_directory_iterator entries(root, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error))
    if (entries->symlink_status(error).type() == fs::file_type::regular)
      files.push_back(entries->path());
  if (error) throw InputError(root.string() + ": cannot be read: " + error.message());
  if (files.empty()) throw InputError(root.string() + ": has no files");
  std::sort(files.begin(), files.end());
  return files;
}

void append(const fs::path& path, std::vector<std::uint8_t>& text) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? std::streamoff(file.tellg()) : -1;
  if (size >= 0) {
    const std::size_t before = text.size();
    text.resize(before + static_cast<std::size_t>(size));
    file.seekg(0);
    if (file.read(reinterpret_cast<char*>(text.data() + before), size)) return;
  }
  throw InputError(path.string() + ": cannot be read: " + std::strerror(errno));
}

}  // namespace

TextCorpus::TextCorpus(const std::string& directory, std::int64_t length, std::int64_t subset)
    : length_(length) {
  JABAS_ASSERT(length >= 1, "length of a sample");
  const std::string root = directory.empty() ? kLicences : directory;
  for (const auto& file : files_of(root)) append(file, text_);
  const std::int64_t samples = (static_cast<std::int64_t>(text_.size()) - 1) / length;
  if (samples < 2)
    throw InputError(root + ": " + std::to_string(text_.size()) + " bytes, at least " +
                     std::to_string(2 * length + 1) + " are needed for two samples of " +
                     std::to_string(length) + " bytes");
  test_ = std::max<std::int64_t>(1, samples / kTestShare);
  first_test_ = train_ = samples - test_;
  train_ = subset_of(train_, subset);
}

}  // namespace jabas
