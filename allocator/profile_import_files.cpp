#include "allocator/profile_import_files.h"

#include <charconv>
#include <cmath>
#include <sstream>

#include "allocator/error.h"
#include "allocator/json_reader.h"

namespace jabas::reference_files {
namespace {

constexpr double kMsPerS = 1000, kBytesPerMb = 1 << 20;

double seconds(JsonReader* reader, const std::string& key) { return reader->number(key) / kMsPerS; }

double positive(JsonReader* reader, const std::string& key) {
  const double value = reader->number(key);
  if (value <= 0) reader->fail(key, "0 is not accepted: must be a number above 0");
  return value;
}

int streams(JsonReader* reader, const std::string& key) {
  return static_cast<int>(reader->integer(key, 1, kMaxStreams));
}

// A whole cell as a finite number of at least 0; -1 if it is none.
double cell_number(std::string_view cell) {
  const std::size_t first = cell.find_first_not_of(" \t");
  if (first == std::string_view::npos) return -1;
  cell = cell.substr(first, cell.find_last_not_of(" \t\r") - first + 1);
  double value = -1;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  const bool whole = error == std::errc() && end == cell.data() + cell.size();
  return whole && std::isfinite(value) && value >= 0 ? value : -1;
}

}  // namespace

std::map<std::string, Server> read_servers(const std::string& text, const std::string& name) {
  JsonReader reader = JsonReader::parse(text, name);
  std::map<std::string, Server> servers;
  for (const std::string& key : reader.keys()) {
    JsonReader entry = reader.object(key);
    Server& server = servers[key];
    server.gpu = entry.text("type");
    server.tflops = entry.number("tfplos");  // spelled so
    server.gpus = static_cast<int>(entry.integer("number", 1, kMaxGpusPerNode));
    server.intra_bandwidth_bytes_per_s = positive(&entry, "intra_network_bandwidth");
    server.inter_bandwidth_bytes_per_s = positive(&entry, "inter_network_bandwidth");
  }
  if (servers.empty()) throw InputError(name + ": names no server");
  return servers;
}

Config read_config(const std::string& text, const std::string& name) {
  JsonReader reader = JsonReader::parse(text, name);
  Config config;
  config.compute = reader.text_or("comp_profile_dir", "");
  config.memory = reader.text_or("memory_profile_dir", "");
  config.communication = reader.text_or("comm_profile_dir", "");
  config.buckets = reader.text_or("bucket_profile_dir", "");
  config.cluster_info = reader.text_or("gpu_cluster_info", "");
  if (reader.has("available_servers")) config.available_servers = reader.texts("available_servers");
  return config;
}

Compute read_compute(const std::string& text, const std::string& name) {
  JsonReader reader = JsonReader::parse(text, name);
  Compute compute;
  compute.model = reader.text("model");
  compute.gpu = reader.text("gpu_type");
  compute.point.local_batch = reader.integer("lbs", 1, kMaxLocalBatch);
  compute.point.streams = streams(&reader, "num_models");
  compute.point.data_s = seconds(&reader, "data_time");
  compute.point.forward_s = seconds(&reader, "fwd_time");
  compute.point.backward_s = seconds(&reader, "bwd_time");
  compute.point.update_s = seconds(&reader, "update_time");
  compute.point.copy_s = seconds(&reader, "copy_time");
  // Only of models with BatchNorm.
  if (reader.has("bn_sync_time")) compute.point.bn_sync_s = seconds(&reader, "bn_sync_time");
  if (compute.point.forward_s + compute.point.backward_s <= 0)
    reader.fail("bwd_time", "fwd_time + bwd_time is not above 0");
  return compute;
}

Memory read_memory(const std::string& text, const std::string& name) {
  JsonReader reader = JsonReader::parse(text, name);
  return {reader.text("gpu_type"), reader.integer("lbs", 1, kMaxLocalBatch),
          streams(&reader, "max_num_models")};
}

Buckets read_buckets(const std::string& text, const std::string& name) {
  JsonReader reader = JsonReader::parse(text, name);
  Buckets buckets{reader.text_or("model", ""), reader.numbers("bucket_size_distribution", 1e9)};
  double sum = 0;
  for (double& bucket : buckets.bytes) sum += bucket *= kBytesPerMb;
  if (sum <= 0 || !std::isfinite(sum))
    reader.fail("bucket_size_distribution", "the sizes do not add up to a number above 0");
  return buckets;
}

std::vector<std::pair<double, double>> read_all_reduces(const std::string& text,
                                                        const std::string& name) {
  std::vector<std::pair<double, double>> points;
  std::istringstream lines(text);
  std::string line;
  bool fitted = false;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::size_t comma = line.find(',');
    const double ideal = cell_number(std::string_view(line).substr(0, comma));
    const double measured =
        comma == std::string::npos ? -1 : cell_number(std::string_view(line).substr(comma + 1));
    if (ideal < 0 || measured < 0)
      throw InputError(
          name + ": line " + std::to_string(number) + ": '" + line.substr(0, 60) +
          "' is not accepted: must be IDEAL_MS,MEASURED_MS, two numbers of at least 0");
    points.emplace_back(ideal / kMsPerS, measured / kMsPerS);
    fitted = fitted || points.back().first != points.front().first;
  }
  if (!fitted)
    throw InputError(name + ": " + std::to_string(points.size()) +
                     " lines: must have two different ideal times at least, to fit a line");
  return points;
}

}  // namespace jabas::reference_files
