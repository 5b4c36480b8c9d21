// Guarantees: a record is one write() of one whole line, on disk before append() returns; a write
// that fails half way is taken back; what a crash left behind the last newline is cut off before
// the next record.
#include "allocator/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "allocator/error.h"

namespace jabas {
namespace {

using Json = nlohmann::ordered_json;  // v, type, time first: records are read by people too

enum class LineKind { kRecord, kBroken, kOtherVersion };

struct Line {
  LineKind kind;
  std::string problem;
};

Line check(const std::string& line) {
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) return {LineKind::kBroken, "not a JSON object"};
  const auto version = json.find("v");
  if (version == json.end() || !version->is_number_integer())
    return {LineKind::kBroken, "no \"v\""};
  if (*version != kJournalVersion) {
    return {LineKind::kOtherVersion, "journal version " + version->dump() +
                                         ", this program reads " + std::to_string(kJournalVersion)};
  }
  const auto is_number = [&](const char* key) {
    return json.contains(key) && json[key].is_number();
  };
  if (!json.contains("type") || !json["type"].is_string())
    return {LineKind::kBroken, "no \"type\""};
  for (const char* key : {"time", "run", "restart"}) {
    if (!is_number(key)) return {LineKind::kBroken, "no \"" + std::string(key) + "\""};
  }
  return {LineKind::kRecord, ""};
}

std::string read_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw IoError("cannot read the journal", path, errno);
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad()) throw IoError("cannot read the journal", path, errno);
  return text.str();
}

struct Parsed {
  JournalContent content;
  std::size_t good_bytes = 0;  // up to and with the newline of the last complete record
};

Parsed parse(const std::string& text, const std::string& path) {
  Parsed parsed;
  for (std::size_t begin = 0, number = 1; begin < text.size(); ++number) {
    const std::size_t newline = text.find('\n', begin);
    if (newline == std::string::npos) {
      parsed.content.torn_tail = true;
      break;
    }
    const std::string line = text.substr(begin, newline - begin);
    const Line checked = check(line);
    const bool last = newline + 1 == text.size();
    if (checked.kind == LineKind::kBroken && last) {
      parsed.content.torn_tail = true;
      break;
    }
    if (checked.kind != LineKind::kRecord) {
      throw InputError(path + ": line " + std::to_string(number) + ": " + checked.problem);
    }
    parsed.content.records.push_back(line);
    begin = parsed.good_bytes = newline + 1;
  }
  return parsed;
}

// A new name is durable only when its directory is.
void sync_directory_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string directory = parent.empty() ? "." : parent;
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) throw IoError("cannot open the journal's directory", directory, errno);
  const int failed = ::fsync(fd) != 0 ? errno : 0;
  ::close(fd);
  if (failed != 0) throw IoError("cannot sync the journal's directory", directory, failed);
}

}  // namespace

JournalWriter::JournalWriter(std::string path, int restart)
    : path_(std::move(path)), restart_(restart) {
  fd_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd_ < 0) throw IoError("cannot open the journal", path_, errno);
  try {
    sync_directory_of(path_);
    const std::string text = read_file(path_);
    const std::size_t good = parse(text, path_).good_bytes;
    if (good < text.size() &&
        (::ftruncate(fd_, static_cast<off_t>(good)) != 0 || ::fsync(fd_) != 0)) {
      throw IoError("cannot cut the torn last line off the journal", path_, errno);
    }
  } catch (...) {  // the destructor of a half-made object does not run
    ::close(fd_);
    throw;
  }
}

JournalWriter::~JournalWriter() {
  if (fd_ >= 0) ::close(fd_);
}

void JournalWriter::append(double unix_time_s, const std::string& type,
                           const std::string& fields_json) {
  const Json fields = Json::parse(fields_json, nullptr, /*allow_exceptions=*/false);
  JABAS_ASSERT(fields.is_object(), "record " + type + ": its fields are not a JSON object");
  Json record = {{"v", kJournalVersion},
                 {"type", type},
                 {"time", unix_time_s},
                 {"run", run_},
                 {"restart", restart_}};
  for (const auto& [key, value] : fields.items()) {
    JABAS_ASSERT(!record.contains(key), "record " + type + ": key " + key + " appears twice");
    record[key] = value;
  }
  const std::string line = record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";

  struct stat before {};
  if (::fstat(fd_, &before) != 0) throw IoError("cannot write the journal", path_, errno);
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t wrote = ::write(fd_, line.data() + done, line.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      const int failed = wrote == 0 ? ENOSPC : errno;
      // Half a record must not stand before another. If it cannot be taken back nothing more is
      // written, and the next start cuts it off.
      if (::ftruncate(fd_, before.st_size) != 0) {
        ::close(fd_);
        fd_ = -1;
      }
      throw IoError("cannot write the journal", path_, failed);
    }
    done += static_cast<std::size_t>(wrote);
  }
  if (::fsync(fd_) != 0) throw IoError("cannot sync the journal", path_, errno);
}

JournalContent read_journal(const std::string& path) {
  return parse(read_file(path), path).content;
}

}  // namespace jabas
