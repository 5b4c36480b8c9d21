// What is known about the speed and memory of each GPU type for one training: the input of every prediction.
// JSON format, versioned: {"jabas_profile":1, "model":"…", "types":{TYPE:{…}}, "network":{…}}; docs/profile.md.
// Units: seconds, samples, bytes, bytes/s, TFLOP/s.
// Errors: load throws InputError naming file, key and value (missing, negative, NaN, other version).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace jabas {

// What a profile may say at most.
constexpr std::int64_t kMaxLocalBatch = 1 << 20;
constexpr int kMaxStreams = 64;
constexpr int kMaxGpusPerNode = 1024;
constexpr double kMaxSeconds = 1e6;  // of one pass, update or all-reduce
constexpr double kMaxBytes = 1e15;   // of a bucket; of a network, per second
// What a run may have at most; tables are sized by it.
constexpr std::int64_t kMaxGlobalBatch = std::int64_t{1} << 22;
constexpr std::int64_t kMaxVirtualWorkers = kMaxGlobalBatch;

// One measured point: V concurrent replicas at local batch b on one GPU.
struct ComputePoint {
  std::int64_t local_batch = 0;
  int streams = 1;              // V
  double data_s = 0;            // D
  double forward_s = 0;         // F, of the V concurrent replicas
  double backward_s = 0;        // K
  double update_s = 0;          // U
  // Only the reference's rules use these (--reference-rounding); weights are shared in our engine.
  double copy_s = 0;
  double bn_sync_s = 0;
};

struct CommunicationProfile {
  double bandwidth_bytes_per_s = 0;
  std::vector<std::pair<double, double>> points;      // (ideal s, measured s) of an all-reduce
};

// What of the all-reduce of a step was measured to be exposed, for one local batch and n ≥ 2 GPUs (shared design "model" 4, Sia):
//   base_s + per_doubling_s · log₂(n/2) + three_nodes_s · [at least 3 nodes]
struct ExposedSync {
  std::int64_t local_batch = 0;
  double base_s = 0, per_doubling_s = 0, three_nodes_s = 0;
};

struct TypeProfile {
  std::string gpu;                                    // the full product name, for people
  double tflops = 0;                                  // 0 = unknown
  int gpus_per_node = 1;
  std::map<std::int64_t, int> max_streams;            // local batch -> V_max by memory
  std::vector<ComputePoint> points;                   // sorted by (local_batch, streams)
  bool scaled = false;                                // not measured: scaled by TFLOP/s from another type
  // The type's own network; without a bandwidth the profile's counts.
  CommunicationProfile intra, inter;
  // Sorted by local batch. Where there are any they take the place of buckets and bandwidths.
  std::vector<ExposedSync> sync_intra, sync_inter;
};

struct Profile {
  std::string model, source;                          // source: the file or "built-in"
  std::map<std::string, TypeProfile> types;
  std::vector<double> bucket_bytes;                   // in the order they become ready
  CommunicationProfile intra, inter;                  // inside one node, across nodes
};

// How times are predicted from a profile (throughput_model.h).
struct ModelRules {
  bool reference = false;
  bool sequential = false;  // the reference's weight update does not overlap (reference only)
};

Profile load_profile(const std::string& path);
Profile profile_from_json(const std::string& text, const std::string& name);
std::string to_json_text(const Profile& profile);

// Where measured times fall while the local batch grows, one line each with the place and both values: noise, above which
// the model works with the largest time before (allocator/throughput_model.h).
std::vector<std::string> profile_warnings(const Profile& profile);

// The TFLOP/s of a GPU type by its usual GRES name (case-insensitive: "v100", "a100", "p100", …); 0 = not in the table.
double builtin_tflops(const std::string& type);

// A profile that has every one of `types`: those missing in `known` are scaled by TFLOP/s from a measured one.
// `notes` gets one line per scaled type; a type that cannot be scaled is left out and named in `notes`.
Profile complete_profile(Profile known, const std::vector<std::string>& types, std::vector<std::string>* notes);

}  // namespace jabas
