// Readers of the single files in the profile folders of the paper's reference implementation (JABAS
// and IIDP, which publish the same kinds of files).
// Units there: ms, MB of 2^20 bytes, bytes/s; results here: s, bytes, bytes/s.
// Keys that no prediction needs are skipped: the format is not ours.
// Errors: InputError naming `name` (the file), key and value: missing, wrong type, negative, not
//         finite, out of range.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "allocator/profile.h"

namespace jabas::reference_files {

// cluster_info.json, by server.
struct Server {
  std::string gpu;
  double tflops = 0;
  int gpus = 1;
  double intra_bandwidth_bytes_per_s = 0, inter_bandwidth_bytes_per_s = 0;
};
std::map<std::string, Server> read_servers(const std::string& text, const std::string& name);

// config.json: where the rest is, as the reference's programs are told. Empty = not said.
struct Config {
  std::string compute, memory, communication, buckets, cluster_info;
  std::vector<std::string> available_servers;
};
Config read_config(const std::string& text, const std::string& name);

// One measurement of a server at a local batch.
struct Compute {
  std::string model, gpu;
  ComputePoint point;
};
Compute read_compute(const std::string& text, const std::string& name);

struct Memory {
  std::string gpu;
  std::int64_t local_batch = 0;
  int max_streams = 0;
};
Memory read_memory(const std::string& text, const std::string& name);

struct Buckets {
  std::string model;          // "" = not said
  std::vector<double> bytes;  // in the order they become ready
};
Buckets read_buckets(const std::string& text, const std::string& name);

// Lines "ideal ms,measured ms" of all-reduces; two different ideal times at least.
std::vector<std::pair<double, double>> read_all_reduces(const std::string& text,
                                                        const std::string& name);

}  // namespace jabas::reference_files
