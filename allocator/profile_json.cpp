// The file format of profiles, version 1 (docs/profile.md).
#include <algorithm>
#include <nlohmann/json.hpp>

#include "allocator/error.h"
#include "allocator/json_reader.h"
#include "allocator/profile.h"
#include "allocator/text_file.h"

namespace jabas {
namespace {

constexpr std::int64_t kVersion = 1;

ComputePoint read_point(JsonReader reader) {
  ComputePoint point;
  point.local_batch = reader.integer("local_batch", 1, kMaxLocalBatch);
  point.streams = static_cast<int>(reader.integer_or("streams", 1, 1, kMaxStreams));
  point.data_s = reader.number_or("data_s", 0, 0, kMaxSeconds);
  point.forward_s = reader.number("forward_s", 0, kMaxSeconds);
  point.backward_s = reader.number("backward_s", 0, kMaxSeconds);
  point.update_s = reader.number_or("update_s", 0, 0, kMaxSeconds);
  point.copy_s = reader.number_or("copy_s", 0, 0, kMaxSeconds);
  point.bn_sync_s = reader.number_or("bn_sync_s", 0, 0, kMaxSeconds);
  if (point.forward_s + point.backward_s <= 0)
    reader.fail("backward_s", "forward_s + backward_s is not above 0");
  reader.finish();
  return point;
}

std::map<std::int64_t, int> read_max_streams(JsonReader reader) {
  std::map<std::int64_t, int> limits;
  for (const std::string& key : reader.keys()) {
    const bool digits =
        !key.empty() && key.size() <= 7 &&
        std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!digits || std::stoll(key) < 1) reader.fail(key, "is not a local batch");
    limits[std::stoll(key)] = static_cast<int>(reader.integer(key, 0, kMaxStreams));
  }
  return limits;
}

// What the model relies on: sorted, no point twice, one stream measured at every local batch,
// nothing measured that the memory limits rule out.
void check_points(const JsonReader& reader, const TypeProfile& type) {
  if (type.points.empty()) reader.fail("points", "has no point");
  for (std::size_t i = 0; i < type.points.size(); ++i) {
    const ComputePoint& point = type.points[i];
    const std::string at = "local batch " + std::to_string(point.local_batch);
    const bool first_of_batch = i == 0 || type.points[i - 1].local_batch != point.local_batch;
    if (first_of_batch && point.streams != 1)
      reader.fail("points",
                  at + " has no point with 1 stream, which every other one is compared with");
    if (!first_of_batch && type.points[i - 1].streams == point.streams)
      reader.fail("points",
                  at + " with " + std::to_string(point.streams) + " streams is there twice");
    const auto limit = type.max_streams.find(point.local_batch);
    if (limit != type.max_streams.end() && limit->second < point.streams)
      reader.fail("max_streams." + std::to_string(point.local_batch),
                  std::to_string(limit->second) + " is below the " + std::to_string(point.streams) +
                      " streams measured there");
  }
}

CommunicationProfile read_network(JsonReader reader) {
  CommunicationProfile network;
  network.bandwidth_bytes_per_s = reader.number("bandwidth_bytes_per_s", 0, kMaxBytes);
  if (network.bandwidth_bytes_per_s > 0 && network.bandwidth_bytes_per_s < 1)
    reader.fail("bandwidth_bytes_per_s", "is neither 0 nor at least 1");
  if (reader.has("points")) network.points = reader.pairs("points", kMaxSeconds);
  reader.finish();
  return network;
}

// "intra" and "inter", where they are there.
void read_networks(JsonReader* reader, CommunicationProfile* intra, CommunicationProfile* inter) {
  if (reader->has("intra")) *intra = read_network(reader->object("intra"));
  if (reader->has("inter")) *inter = read_network(reader->object("inter"));
}

std::vector<ExposedSync> read_sync(JsonReader* reader, const std::string& key) {
  std::vector<ExposedSync> points;
  for (JsonReader& point : reader->objects(key)) {
    points.push_back({point.integer("local_batch", 1, kMaxLocalBatch),
                      point.number("base_s", -kMaxSeconds, kMaxSeconds),
                      point.number_or("per_doubling_s", 0, -kMaxSeconds, kMaxSeconds),
                      point.number_or("three_nodes_s", 0, -kMaxSeconds, kMaxSeconds)});
    point.finish();
  }
  std::sort(points.begin(), points.end(), [](const ExposedSync& a, const ExposedSync& b) {
    return a.local_batch < b.local_batch;
  });
  for (std::size_t i = 1; i < points.size(); ++i)
    if (points[i - 1].local_batch == points[i].local_batch)
      reader->fail(key, "local batch " + std::to_string(points[i].local_batch) + " is there twice");
  return points;
}

TypeProfile read_type(JsonReader reader) {
  TypeProfile type;
  type.gpu = reader.text_or("gpu", "");
  type.tflops = reader.number_or("tflops", 0);
  type.gpus_per_node = static_cast<int>(reader.integer_or("gpus_per_node", 1, 1, kMaxGpusPerNode));
  if (reader.has("max_streams")) type.max_streams = read_max_streams(reader.object("max_streams"));
  for (JsonReader& point : reader.objects("points")) type.points.push_back(read_point(point));
  type.scaled = reader.flag_or("scaled", false);
  if (reader.has("network")) {
    JsonReader network = reader.object("network");
    read_networks(&network, &type.intra, &type.inter);
    network.finish();
  }
  if (reader.has("sync")) {
    JsonReader sync = reader.object("sync");
    if (sync.has("intra")) type.sync_intra = read_sync(&sync, "intra");
    if (sync.has("inter")) type.sync_inter = read_sync(&sync, "inter");
    sync.finish();
  }
  std::sort(type.points.begin(), type.points.end(),
            [](const ComputePoint& a, const ComputePoint& b) {
              return std::pair(a.local_batch, a.streams) < std::pair(b.local_batch, b.streams);
            });
  check_points(reader, type);
  reader.finish();
  return type;
}

nlohmann::ordered_json to_json(const CommunicationProfile& network) {
  return {{"bandwidth_bytes_per_s", network.bandwidth_bytes_per_s}, {"points", network.points}};
}

nlohmann::ordered_json to_json(const std::vector<ExposedSync>& points) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const ExposedSync& p : points)
    json.push_back({{"local_batch", p.local_batch},
                    {"base_s", p.base_s},
                    {"per_doubling_s", p.per_doubling_s},
                    {"three_nodes_s", p.three_nodes_s}});
  return json;
}

nlohmann::ordered_json to_json(const TypeProfile& type) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!type.gpu.empty()) json["gpu"] = type.gpu;
  json["tflops"] = type.tflops;
  json["gpus_per_node"] = type.gpus_per_node;
  json["max_streams"] = nlohmann::ordered_json::object();
  for (const auto& [batch, streams] : type.max_streams)
    json["max_streams"][std::to_string(batch)] = streams;
  json["points"] = nlohmann::ordered_json::array();
  for (const ComputePoint& p : type.points)
    json["points"].push_back({{"local_batch", p.local_batch},
                              {"streams", p.streams},
                              {"data_s", p.data_s},
                              {"forward_s", p.forward_s},
                              {"backward_s", p.backward_s},
                              {"update_s", p.update_s},
                              {"copy_s", p.copy_s},
                              {"bn_sync_s", p.bn_sync_s}});
  json["scaled"] = type.scaled;
  if (type.intra.bandwidth_bytes_per_s > 0) json["network"]["intra"] = to_json(type.intra);
  if (type.inter.bandwidth_bytes_per_s > 0) json["network"]["inter"] = to_json(type.inter);
  if (!type.sync_intra.empty()) json["sync"]["intra"] = to_json(type.sync_intra);
  if (!type.sync_inter.empty()) json["sync"]["inter"] = to_json(type.sync_inter);
  return json;
}

}  // namespace

Profile profile_from_json(const std::string& text, const std::string& name) {
  JsonReader reader = JsonReader::parse(text, name);
  const std::int64_t version = reader.integer("jabas_profile", 0, 1'000'000);
  if (version != kVersion)
    reader.fail("jabas_profile",
                std::to_string(version) + " is not a version this program reads (it reads 1)");
  Profile profile;
  profile.source = name;
  profile.model = reader.text_or("model", "");
  reader.text_or("comment", "");
  JsonReader types = reader.object("types");
  for (const std::string& type : types.keys()) profile.types[type] = read_type(types.object(type));
  if (reader.has("network")) {
    JsonReader network = reader.object("network");
    if (network.has("bucket_bytes"))
      profile.bucket_bytes = network.numbers("bucket_bytes", kMaxBytes);
    read_networks(&network, &profile.intra, &profile.inter);
    network.finish();
  }
  reader.finish();
  return profile;
}

Profile load_profile(const std::string& path) {
  return profile_from_json(read_text_file(path, "the profile"), path);
}

std::string to_json_text(const Profile& profile) {
  nlohmann::ordered_json json = {{"jabas_profile", kVersion}, {"model", profile.model}};
  json["types"] = nlohmann::ordered_json::object();
  for (const auto& [name, type] : profile.types) json["types"][name] = to_json(type);
  json["network"] = {{"bucket_bytes", profile.bucket_bytes},
                     {"intra", to_json(profile.intra)},
                     {"inter", to_json(profile.inter)}};
  return json.dump(1);
}

}  // namespace jabas
