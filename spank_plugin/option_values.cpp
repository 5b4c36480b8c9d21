#include "spank_plugin/option_values.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "allocator/profile.h"
namespace jabas {
namespace {

constexpr int kMaxGpus = 100000;  // of one type; a typing error, not a cluster, is above
constexpr int kMaxUnit = 1024;

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string read_range(std::string_view text, long lowest, long highest, long* min, long* max) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return quoted(text) + " is not MIN-MAX";
  const auto first = whole_number(text.substr(0, dash));
  const auto last = whole_number(text.substr(dash + 1));
  if (!first || !last) return quoted(text) + " is not MIN-MAX in whole numbers";
  if (*first > *last) {
    return "MIN " + std::to_string(*first) + " is above MAX " + std::to_string(*last);
  }
  if (*first < lowest) {
    return "MIN " + std::to_string(*first) + " is below " + std::to_string(lowest);
  }
  if (*last < 1) return "MAX " + std::to_string(*last) + " is below 1";
  if (*last > highest) {
    return "MAX " + std::to_string(*last) + " is above " + std::to_string(highest);
  }
  *min = *first;
  *max = *last;
  return "";
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

std::string check_type(std::string_view type, const std::vector<std::string>& known_types) {
  if (type.empty()) return "a GPU type is missing";
  const auto allowed = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
  };
  if (!std::all_of(type.begin(), type.end(), allowed)) {
    return quoted(type) + " is not a GPU type (letters, digits, '_', '.' and '-')";
  }
  if (!known_types.empty() &&
      std::find(known_types.begin(), known_types.end(), type) == known_types.end()) {
    std::vector<std::string> sorted = known_types;
    std::sort(sorted.begin(), sorted.end());
    return "GPU type " + quoted(type) + " is unknown; this cluster has " + join(sorted);
  }
  return "";
}

std::string read_gpus(std::string_view value, const std::vector<std::string>& known_types,
                      std::vector<TypeRange>* gpus) {
  std::vector<TypeRange> ranges;
  for (const std::string_view part : split(value, ',')) {
    const auto colon = part.rfind(':');
    if (colon == std::string_view::npos) return quoted(part) + " is not TYPE:MIN-MAX";
    TypeRange range;
    range.type = part.substr(0, colon);
    if (std::string problem = check_type(range.type, known_types); !problem.empty()) return problem;
    long min = 0, max = 0;
    if (std::string problem = read_range(part.substr(colon + 1), 0, kMaxGpus, &min, &max);
        !problem.empty()) {
      return "type " + range.type + ": " + problem;
    }
    range.min = static_cast<int>(min);
    range.max = static_cast<int>(max);
    for (const TypeRange& other : ranges) {
      if (other.type == range.type) return "type " + range.type + " is given twice";
    }
    ranges.push_back(std::move(range));
  }
  *gpus = std::move(ranges);
  return "";
}

std::string read_unit(std::string_view value, int* unit) {
  const auto number = whole_number(value);
  if (!number) return quoted(value) + " is not a whole number";
  if (*number < 1 || *number > kMaxUnit) {
    return std::to_string(*number) + " is outside 1 to " + std::to_string(kMaxUnit);
  }
  *unit = static_cast<int>(*number);
  return "";
}

std::string check_objective(std::string_view value) {
  const auto colon = value.find(':');
  const std::string_view kind = value.substr(0, colon);
  const bool has_number = colon != std::string_view::npos;
  const std::string_view text = has_number ? value.substr(colon + 1) : std::string_view();
  if (kind != "time" && kind != "cost" && kind != "balanced" && kind != "value" &&
      kind != "deadline" && kind != "budget" && kind != "paper") {
    return quoted(kind) + " is not an objective";
  }
  if (kind == "cost" || kind == "paper") {
    return has_number ? std::string(kind) + " takes no number" : "";
  }
  if (kind == "deadline") {
    if (!has_number) return "deadline needs a duration, such as deadline:8h";
    const auto duration = duration_s(text);
    if (!duration) return quoted(text) + " is not a duration";
    return *duration > 0 ? "" : "T " + std::string(text) + " is not above 0";
  }
  if (!has_number && kind == "budget") return "budget needs a number, such as budget:20";
  if (!has_number) return kind == "value" ? "value needs a number, such as value:4" : "";
  const auto number = real_number(text);
  if (!number) return quoted(text) + " is not a number";
  if (kind == "time" && *number < 0) return "EPS " + std::string(text) + " is below 0";
  if (kind == "balanced" && *number >= 1) {
    return "ALPHA " + std::string(text) + " is not below 1; for time alone use time";
  }
  if (kind == "balanced" && *number < 0) return "ALPHA " + std::string(text) + " is below 0";
  if (kind == "value" && *number <= 0) return "V " + std::string(text) + " is not above 0";
  if (kind == "budget" && *number <= 0) return "X " + std::string(text) + " is not above 0";
  return "";
}

std::string read_batch(std::string_view value, long* min, long* max) {
  return read_range(value, 1, kMaxGlobalBatch, min, max);
}

std::string read_duration(std::string_view value, long* seconds) {
  const auto duration = slurm_duration_s(value);
  if (!duration) return quoted(value) + " is not a duration";
  *seconds = *duration;
  return "";
}

std::string check_file(const std::string& value, bool urls, bool check_files) {
  std::string path = value;
  if (const auto scheme_end = value.find("://"); scheme_end != std::string::npos) {
    const std::string scheme = value.substr(0, scheme_end);
    if (!urls) return "a URL is not accepted here";
    if (scheme != "http" && scheme != "https" && scheme != "file") {
      return "URL scheme " + quoted(scheme) + " is not http, https or file";
    }
    path = value.substr(scheme_end + 3);
    if (path.empty()) return "the URL names nothing";
    if (scheme != "file") return "";
    if (path[0] != '/') return "a file URL needs an absolute path";
  }
  if (!check_files) return "";
  // O_NONBLOCK: a FIFO must not stop the submission.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return "cannot read the file: " + std::string(std::strerror(errno));
  struct stat status;
  const bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  close(fd);
  return regular ? "" : "not a regular file";
}

}  // namespace jabas
