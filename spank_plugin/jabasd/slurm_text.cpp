#include "spank_plugin/jabasd/slurm_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <map>
#include <sstream>

#include "allocator/error.h"

namespace jabas {

// The comment is last, so that a separator inside it does no harm.
const char kSqueueFormat[] =
    "JobID:|,State:|,BatchHost:|,SubmitTime:|,StartTime:|,EndTime:|,PreemptTime:|,Name:|,Reason:|,"
    "Comment:|";
const char kSinfoFormat[] = "NodeList: ,Gres: ,GresUsed: ,StateComplete: ,CPUsState: ";

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

// At most `fields` parts; the last takes the rest.
std::vector<std::string> split(const std::string& line, char separator, std::size_t fields) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (parts.size() + 1 < fields) {
    const std::size_t end = line.find(separator, start);
    if (end == std::string::npos) break;
    parts.push_back(line.substr(start, end - start));
    start = end + 1;
  }
  parts.push_back(line.substr(start));
  return parts;
}

template <typename Number>
bool read_number(const std::string& text, Number* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string absent_as_empty(const std::string& text) {
  const bool absent = text == "(null)" || text == "N/A" || text == "n/a" || text == "None";
  return absent ? "" : text;
}

bool node_usable(const std::string& state) {
  static const std::array<const char*, 13> kUnusable = {
      "drain",  "down",   "fail",  "maint",          "reserved",   "unknown", "power",
      "reboot", "future", "inval", "not_responding", "no_respond", "blocked"};
  std::string lower = state;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  if (lower.find('*') != std::string::npos) return false;  // does not answer
  return std::none_of(kUnusable.begin(), kUnusable.end(),
                      [&](const char* word) { return lower.find(word) != std::string::npos; });
}

}  // namespace

GpuCounts parse_gres(const std::string& text) {
  GpuCounts counts;
  // Parentheses hold sockets and indices, which may contain commas.
  std::string plain;
  int depth = 0;
  for (const char c : text) {
    if (c == '(') ++depth;
    if (depth == 0) plain += c;
    if (c == ')') --depth;
  }
  std::istringstream stream(plain);
  for (std::string entry; std::getline(stream, entry, ',');) {
    if (entry.rfind("gres:", 0) == 0 || entry.rfind("gres/", 0) == 0) entry.erase(0, 5);
    const std::vector<std::string> parts = split(entry, ':', 3);
    if (parts[0] != "gpu") continue;
    int count = 1;
    if (parts.size() == 1) {
      counts["gpu"] += count;
    } else if (parts.size() == 2) {  // gpu:2 or gpu:v100
      if (read_number(parts[1], &count)) {
        counts["gpu"] += count;
      } else {
        counts[parts[1]] += 1;
      }
    } else if (read_number(parts[2], &count)) {
      counts[parts[1]] += count;
    }
  }
  return counts;
}

double parse_time(const std::string& text) {
  std::tm parts = {};
  const char* end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (end == nullptr || *end != '\0') return 0;
  return double(timegm(&parts));
}

std::vector<JobRow> parse_squeue(const std::string& text) {
  std::vector<JobRow> rows;
  for (const std::string& line : lines_of(text)) {
    const std::vector<std::string> fields = split(line, '|', 10);
    JobRow row;
    if (fields.size() != 10 || !read_number(fields[0], &row.job_id)) {
      throw InputError("squeue: line \"" + line +
                       "\": expected ten fields separated by |, the first a job id");
    }
    row.state = fields[1].substr(0, fields[1].find(' '));
    row.node = absent_as_empty(fields[2]);
    row.submit_s = parse_time(fields[3]);
    row.start_s = parse_time(fields[4]);
    row.end_s = parse_time(fields[5]);
    row.preempt_s = parse_time(fields[6]);
    row.name = fields[7];
    row.reason = absent_as_empty(fields[8]);
    std::string comment = fields[9];
    if (!comment.empty() && comment.back() == '|') comment.pop_back();
    row.comment = absent_as_empty(comment);
    rows.push_back(row);
  }
  return rows;
}

std::vector<NodeRow> parse_sinfo(const std::string& text) {
  std::map<std::string, NodeRow> by_name;
  for (const std::string& line : lines_of(text)) {
    std::istringstream stream(line);
    std::string name, gres, used, state, cpus;
    if (!(stream >> name >> gres >> used >> state >> cpus)) {
      throw InputError("sinfo: line \"" + line +
                       "\": expected node, gres, gres used, state and CPUs");
    }
    NodeRow row;
    row.node = name;
    row.state = state;
    row.usable = node_usable(state);
    row.gpus = parse_gres(gres);
    row.used = parse_gres(used);
    const std::vector<std::string> counts = split(cpus, '/', 4);  // allocated/idle/other/total
    if (counts.size() != 4 || !read_number(counts[1], &row.idle_cpus) ||
        !read_number(counts[3], &row.cpus)) {
      throw InputError("sinfo: CPUs \"" + cpus + "\" of node " + name +
                       ": expected allocated/idle/other/total");
    }
    by_name[name] = row;
  }
  std::vector<NodeRow> rows;
  for (auto& [name, row] : by_name) rows.push_back(std::move(row));
  return rows;
}

LeadInfo parse_lead(const std::string& text) {
  std::map<std::string, std::string> values;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) {
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos)
      values.emplace(word.substr(0, equals), word.substr(equals + 1));
  }
  if (!values.count("JobId"))
    throw InputError("scontrol show job: no JobId in \"" + text.substr(0, 80) + "\"");
  LeadInfo lead;
  lead.state = values["JobState"];
  lead.partition = absent_as_empty(values["Partition"]);
  if (values["TimeLimit"] != "UNLIMITED") {
    const double end_s = parse_time(values["EndTime"]);
    lead.end_s = end_s > 0 ? end_s : -1;
  }
  lead.preempt_s = parse_time(values["PreemptTime"]);
  for (const char* key : {"JOB_GRES", "GRES", "TresPerNode"}) {
    lead.gpus = parse_gres(values[key]);
    if (!lead.gpus.empty()) break;
  }
  const auto memory = [&](const char* key) {
    const std::string value = absent_as_empty(values[key]);
    return value == "0" ? std::string() : value;
  };
  lead.memory = memory("MinMemoryNode");
  if (const std::string per_cpu = memory("MinMemoryCPU"); !per_cpu.empty()) {
    // A member's memory is asked for per node: what the lead's CPUs have together.
    const std::size_t unit = per_cpu.find_first_not_of("0123456789.");
    const double amount = std::strtod(per_cpu.c_str(), nullptr);
    int cpus = 1;
    read_number(values["NumCPUs"], &cpus);
    std::ostringstream total;
    total << long(amount * cpus) << (unit == std::string::npos ? "" : per_cpu.substr(unit));
    lead.memory = total.str();
  }
  return lead;
}

std::string controller_address(const std::string& config_text) {
  for (const std::string& line : lines_of(config_text)) {
    if (line.rfind("SlurmctldHost", 0) != 0) continue;
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    std::string value = line.substr(equals + 1);
    value.erase(0, value.find_first_not_of(' '));
    const std::size_t open = value.find('('), close = value.find(')');
    if (open != std::string::npos && close > open) return value.substr(open + 1, close - open - 1);
    return value;
  }
  return "";
}

}  // namespace jabas
