#include "allocator/profile_import.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "allocator/error.h"
#include "allocator/folder.h"
#include "allocator/profile_import_files.h"
#include "allocator/profile_merge.h"
#include "allocator/text_file.h"

namespace jabas {
namespace {

using reference_files::Compute;
using reference_files::Config;
using reference_files::Memory;
using reference_files::Server;
using Servers = std::map<std::string, Server>;

constexpr char kMemoryFile[] = "max_memory_profile_info.json";

std::string join(const std::string& folder, const std::string& name) { return folder + "/" + name; }

template <typename Names>
std::string listed(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

// Where things are.
struct Layout {
  std::string compute, memory, communication, buckets, cluster_info, config;
  std::vector<std::string> available_servers;
};

// The configuration names paths as seen from the folder where the reference's programs run, usually
// the one above; without a configuration things have the usual names.
std::string located(const std::string& folder, const std::string& config, const std::string& key,
                    const std::string& said, const std::string& usual) {
  if (said.empty()) return join(folder, usual);
  const std::filesystem::path base(folder), path(said);
  for (const auto& candidate : {base / path.filename(), base / path, base / ".." / path}) {
    std::error_code unreadable;  // then opening it will say why
    if (path.has_filename() && std::filesystem::exists(candidate, unreadable))
      return candidate.string();
  }
  throw InputError(config + ": " + key + ": '" + said + "' is neither in nor beside " + folder);
}

Layout find_layout(const std::string& folder) {
  Layout layout;
  layout.config = join(folder, "config.json");
  Config config;
  const std::vector<std::string> entries = folder_entries(folder, "the profile folder");
  if (std::find(entries.begin(), entries.end(), "config.json") != entries.end())
    config = reference_files::read_config(read_text_file(layout.config, "the configuration"),
                                          layout.config);
  const auto at = [&](const char* key, const std::string& said, const char* usual) {
    return located(folder, layout.config, key, said, usual);
  };
  layout.compute = at("comp_profile_dir", config.compute, "cluster_comp_profile_data");
  layout.memory = at("memory_profile_dir", config.memory, "cluster_mem_profile_data");
  layout.communication = at("comm_profile_dir", config.communication, "comm_profile_data");
  layout.buckets = at("bucket_profile_dir", config.buckets, "bucket_profile_data");
  layout.cluster_info = at("gpu_cluster_info", config.cluster_info, "cluster_info.json");
  layout.available_servers = config.available_servers;
  return layout;
}

// LOCAL_BATCH/SERVER folders.
using Places = std::set<std::pair<std::int64_t, std::string>>;

Places find_places(const std::string& folder, const std::string& what) {
  Places places;
  for (const std::string& entry : folder_entries(folder, what)) {
    const bool digits = entry.size() <= 7 && std::all_of(entry.begin(), entry.end(), [](char c) {
                          return c >= '0' && c <= '9';
                        });
    const std::int64_t batch = digits ? std::stoll(entry) : 0;
    if (batch < 1 || batch > kMaxLocalBatch || std::to_string(batch) != entry)
      throw InputError(join(folder, entry) + ": is not a local batch, 1.." +
                       std::to_string(kMaxLocalBatch));
    for (const std::string& server : folder_entries(join(folder, entry), what))
      places.emplace(batch, server);
  }
  if (places.empty()) throw InputError(folder + ": has no LOCAL_BATCH/SERVER folder");
  return places;
}

std::string place_path(const std::string& folder, const Places::value_type& place) {
  return join(join(folder, std::to_string(place.first)), place.second);
}

std::set<std::string> servers_of(const Places& places) {
  std::set<std::string> servers;
  for (const auto& [batch, server] : places) servers.insert(server);
  return servers;
}

template <typename Inner, typename Outer>
bool all_in(const Inner& inner, const Outer& outer) {
  return std::all_of(inner.begin(), inner.end(), [&](const std::string& name) {
    return std::find(outer.begin(), outer.end(), name) != outer.end();
  });
}

// The folders must be about the servers that cluster_info.json describes, and about all that are to
// be used.
void check_servers(const Layout& layout, const Servers& servers, const std::string& folder,
                   const std::set<std::string>& measured) {
  std::vector<std::string> described;
  for (const auto& [name, server] : servers) described.push_back(name);
  const bool all_used = layout.available_servers.empty();
  if (!all_in(measured, described) || (all_used && !all_in(described, measured)))
    throw InputError(folder + ": its servers (" + listed(measured) + ") are not those of " +
                     layout.cluster_info + " (" + listed(described) + "): name them alike");
  if (!all_in(layout.available_servers, measured))
    throw InputError(layout.config + ": available_servers (" + listed(layout.available_servers) +
                     ") are not all among the servers of " + folder + " (" + listed(measured) +
                     ")");
}

[[noreturn]] void mismatch(const std::string& file, const std::string& key,
                           const std::string& value, const std::string& wanted) {
  throw InputError(file + ": " + key + ": " + value + " is not " + wanted);
}

void check_batch(const std::string& file, std::int64_t batch, std::int64_t folder_batch) {
  if (batch != folder_batch)
    mismatch(file, "lbs", std::to_string(batch),
             "the " + std::to_string(folder_batch) + " of its folder");
}

void check_gpu(const Layout& layout, const std::string& file, const std::string& gpu,
               const std::string& server, const Server& described) {
  if (gpu != described.gpu)
    mismatch(file, "gpu_type", "'" + gpu + "'",
             "the '" + described.gpu + "' of " + server + " in " + layout.cluster_info);
}

// Adds what was measured at one place to the server's type.
void add_place(const Layout& layout, const Places::value_type& place, const Server& server,
               TypeProfile* type, std::string* model) {
  const std::string memory_file = join(place_path(layout.memory, place), kMemoryFile);
  const Memory memory = reference_files::read_memory(
      read_text_file(memory_file, "the memory measurement"), memory_file);
  check_batch(memory_file, memory.local_batch, place.first);
  check_gpu(layout, memory_file, memory.gpu, place.second, server);
  type->max_streams[place.first] = memory.max_streams;

  const std::string folder = place_path(layout.compute, place);
  std::map<int, std::string> file_of_streams;
  for (const std::string& entry : folder_entries(folder, "the compute measurements")) {
    const std::string file = join(folder, entry);
    const Compute compute =
        reference_files::read_compute(read_text_file(file, "the compute measurement"), file);
    const int streams = compute.point.streams;
    check_batch(file, compute.point.local_batch, place.first);
    check_gpu(layout, file, compute.gpu, place.second, server);
    if (model->empty()) *model = compute.model;
    if (compute.model != *model)
      mismatch(file, "model", "'" + compute.model + "'", "the '" + *model + "' of the other files");
    const auto [known, added] = file_of_streams.emplace(streams, file);
    if (!added)
      throw InputError(file + ": num_models: " + std::to_string(streams) + " is also that of " +
                       known->second);
    if (streams > memory.max_streams)
      throw InputError(memory_file + ": max_num_models: " + std::to_string(memory.max_streams) +
                       " is below the " + std::to_string(streams) + " measured in " + file);
    type->points.push_back(compute.point);
  }
  if (!file_of_streams.contains(1))
    throw InputError(folder +
                     ": has no file with num_models 1, which every other one is compared "
                     "with");
}

std::map<std::string, NamedType> read_types(const Layout& layout, const Servers& servers,
                                            std::string* model) {
  const Places places = find_places(layout.compute, "the compute measurements");
  const Places with_memory = find_places(layout.memory, "the memory measurements");
  check_servers(layout, servers, layout.compute, servers_of(places));
  check_servers(layout, servers, layout.memory, servers_of(with_memory));
  for (const auto& place : with_memory)
    if (!places.contains(place))
      throw InputError(place_path(layout.compute, place) + ": is missing, but " +
                       place_path(layout.memory, place) + " is there");
  std::map<std::string, NamedType> types;
  for (const auto& place : places) {
    const Server& server = servers.find(place.second)->second;
    NamedType& named = types[place.second];
    named.file = "server " + place.second;
    named.type.gpu = server.gpu;
    named.type.tflops = server.tflops;
    named.type.gpus_per_node = server.gpus;
    named.type.intra.bandwidth_bytes_per_s = server.intra_bandwidth_bytes_per_s;
    named.type.inter.bandwidth_bytes_per_s = server.inter_bandwidth_bytes_per_s;
    add_place(layout, place, server, &named.type, model);
  }
  for (auto& [server, named] : types)
    std::sort(named.type.points.begin(), named.type.points.end(),
              [](const ComputePoint& a, const ComputePoint& b) {
                return std::pair(a.local_batch, a.streams) < std::pair(b.local_batch, b.streams);
              });
  return types;
}

std::vector<std::pair<double, double>> read_network(const Layout& layout, const std::string& kind) {
  std::string found;
  for (const std::string& entry : folder_entries(layout.communication, "the all-reduce times"))
    if (entry.find(kind) != std::string::npos) {
      if (!found.empty())
        throw InputError(join(layout.communication, entry) + ": there is also " + found +
                         ": one file with '" + kind + "' in its name is accepted");
      found = join(layout.communication, entry);
    }
  if (found.empty())
    throw InputError(join(layout.communication, kind + "_comm_profile_data.txt") + ": is missing");
  return reference_files::read_all_reduces(read_text_file(found, "the all-reduce times"), found);
}

std::vector<double> read_buckets(const Layout& layout, const std::string& model) {
  std::vector<std::string> models;
  for (const std::string& entry : folder_entries(layout.buckets, "the buckets")) {
    const std::string file = join(layout.buckets, entry);
    const auto buckets = reference_files::read_buckets(read_text_file(file, "the buckets"), file);
    if (buckets.model.empty() || buckets.model == model) return buckets.bytes;
    models.push_back(buckets.model);
  }
  throw InputError(layout.buckets + ": has no buckets of model '" + model + "', only of " +
                   listed(models));
}

// Bandwidths that all types share are the profile's.
void share_bandwidths(Profile* profile) {
  for (auto network : {std::pair(&Profile::intra, &TypeProfile::intra),
                       std::pair(&Profile::inter, &TypeProfile::inter)}) {
    CommunicationProfile& shared = profile->*network.first;
    shared.bandwidth_bytes_per_s =
        (profile->types.begin()->second.*network.second).bandwidth_bytes_per_s;
    for (auto& [name, type] : profile->types) {
      CommunicationProfile& own = type.*network.second;
      if (own.bandwidth_bytes_per_s == shared.bandwidth_bytes_per_s) own = {};
    }
  }
}

}  // namespace

Profile import_profile(const std::string& folder,
                       const std::map<std::string, std::string>& type_of_server) {
  const Layout layout = find_layout(folder);
  const Servers servers = reference_files::read_servers(
      read_text_file(layout.cluster_info, "the description of the cluster"), layout.cluster_info);
  Profile profile;
  profile.source = folder;
  std::map<std::string, std::vector<NamedType>> types;
  std::map<std::string, NamedType> measured = read_types(layout, servers, &profile.model);
  for (const auto& [server, type] : type_of_server)
    if (!measured.contains(server)) {
      std::vector<std::string> names;
      for (const auto& [name, named] : measured) names.push_back(name);
      throw UsageError("--name " + server + "=" + type + ": there is no server '" + server +
                       "', only " + listed(names));
    }
  for (auto& [server, named] : measured) {
    const auto name = type_of_server.find(server);
    types[name == type_of_server.end() ? server : name->second].push_back(std::move(named));
  }
  for (const auto& [name, told] : types) profile.types[name] = merge_types(name, told);
  profile.bucket_bytes = read_buckets(layout, profile.model);
  profile.intra.points = read_network(layout, "intra");
  profile.inter.points = read_network(layout, "inter");
  share_bandwidths(&profile);
  return profile;
}

}  // namespace jabas
