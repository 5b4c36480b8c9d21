// The file format of profiles, version 1 (docs/profile.md).
#include <algorithm>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "allocator/error.h"
#include "allocator/json_reader.h"
#include "allocator/profile.h"

namespace jabas {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::int64_t kMaxLocalBatch = 1 << 20;
constexpr std::int64_t kMaxStreams = 64;

ComputePoint read_point(JsonReader reader) {
  ComputePoint point;
  point.local_batch = reader.integer("local_batch", 1, kMaxLocalBatch);
  point.streams = static_cast<int>(reader.integer_or("streams", 1, 1, kMaxStreams));
  point.data_s = reader.number_or("data_s", 0);
  point.forward_s = reader.number("forward_s");
  point.backward_s = reader.number("backward_s");
  point.update_s = reader.number_or("update_s", 0);
  point.copy_s = reader.number_or("copy_s", 0);
  point.bn_sync_s = reader.number_or("bn_sync_s", 0);
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

TypeProfile read_type(JsonReader reader) {
  TypeProfile type;
  type.tflops = reader.number_or("tflops", 0);
  type.gpus_per_node = static_cast<int>(reader.integer_or("gpus_per_node", 1, 1, 1024));
  if (reader.has("max_streams")) type.max_streams = read_max_streams(reader.object("max_streams"));
  for (JsonReader& point : reader.objects("points")) type.points.push_back(read_point(point));
  type.scaled = reader.flag_or("scaled", false);
  std::sort(type.points.begin(), type.points.end(),
            [](const ComputePoint& a, const ComputePoint& b) {
              return std::pair(a.local_batch, a.streams) < std::pair(b.local_batch, b.streams);
            });
  check_points(reader, type);
  reader.finish();
  return type;
}

CommunicationProfile read_network(JsonReader reader) {
  CommunicationProfile network;
  network.bandwidth_bytes_per_s = reader.number("bandwidth_bytes_per_s");
  if (reader.has("points")) network.points = reader.pairs("points");
  reader.finish();
  return network;
}

nlohmann::ordered_json to_json(const TypeProfile& type) {
  nlohmann::ordered_json json = {{"tflops", type.tflops}, {"gpus_per_node", type.gpus_per_node}};
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
    if (network.has("bucket_bytes")) profile.bucket_bytes = network.numbers("bucket_bytes");
    if (network.has("intra")) profile.intra = read_network(network.object("intra"));
    if (network.has("inter")) profile.inter = read_network(network.object("inter"));
    network.finish();
  }
  reader.finish();
  return profile;
}

Profile load_profile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw IoError("cannot open the profile", path, errno);
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad() || text.fail()) throw IoError("cannot read the profile", path, errno);
  return profile_from_json(text.str(), path);
}

std::string to_json_text(const Profile& profile) {
  nlohmann::ordered_json json = {{"jabas_profile", kVersion}, {"model", profile.model}};
  json["types"] = nlohmann::ordered_json::object();
  for (const auto& [name, type] : profile.types) json["types"][name] = to_json(type);
  const auto network = [](const CommunicationProfile& side) {
    return nlohmann::ordered_json{{"bandwidth_bytes_per_s", side.bandwidth_bytes_per_s},
                                  {"points", side.points}};
  };
  json["network"] = {{"bucket_bytes", profile.bucket_bytes},
                     {"intra", network(profile.intra)},
                     {"inter", network(profile.inter)}};
  return json.dump(1);
}

}  // namespace jabas
