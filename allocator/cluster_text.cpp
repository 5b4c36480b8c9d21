#include "allocator/cluster_text.h"

#include <algorithm>
#include <charconv>

namespace jabas {
namespace {

constexpr int kMaxGpus = 100000;

std::string known_types(const Profile& profile) {
  std::string text;
  for (const auto& [name, type] : profile.types) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

std::string parse_cluster(const std::string& text, const Profile& profile,
                          std::vector<ClusterEntry>* cluster) {
  cluster->clear();
  int sum = 0;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(",+", from), text.size());
    const std::string entry = text.substr(from, end - from);
    from = end + 1;
    const std::size_t colon = entry.rfind(':');
    const std::string wrong = "'" + entry + "' is not TYPE:GPUS with 1.." +
                              std::to_string(kMaxGpus) + " GPUs in all, such as node0:4,node1:4";
    if (colon == std::string::npos || colon == 0) return wrong;
    ClusterEntry parsed{entry.substr(0, colon), 0};
    const char* const last = entry.data() + entry.size();
    const auto [stop, error] = std::from_chars(entry.data() + colon + 1, last, parsed.gpus);
    if (error != std::errc() || stop != last || parsed.gpus < 1 || parsed.gpus > kMaxGpus - sum)
      return wrong;
    if (!profile.types.contains(parsed.type))
      return "the profile has no GPU type '" + parsed.type + "'; it has " + known_types(profile);
    sum += parsed.gpus;
    cluster->push_back(std::move(parsed));
  }
  return "";
}

std::string rank_cluster(const std::vector<ClusterEntry>& cluster, const Profile& profile, int unit,
                         RankedGpus* gpus) {
  *gpus = {{}, 0, unit};
  for (const auto& [type, count] : cluster) {
    if (count % unit != 0)
      return std::to_string(count) + " GPUs of " + type + " are not whole units of " +
             std::to_string(unit) + " GPUs";
    const int per_node = profile.types.at(type).gpus_per_node;
    gpus->nodes += (count + per_node - 1) / per_node;
    gpus->types.insert(gpus->types.end(), std::size_t(count / unit), type);
  }
  return "";
}

std::vector<ShareCount> counted_shares(const RankedGpus& gpus, const Configuration& configuration) {
  std::vector<ShareCount> counted;
  for (std::size_t rank = 0; rank < gpus.types.size(); ++rank) {
    const GpuShare& share = configuration.shares[rank];
    const auto same = std::find_if(counted.begin(), counted.end(), [&](const ShareCount& other) {
      return other.type == gpus.types[rank] && other.share.streams == share.streams &&
             other.share.accum_steps == share.accum_steps;
    });
    if (same == counted.end())
      counted.push_back({gpus.types[rank], share, gpus.unit});
    else
      same->gpus += gpus.unit;
  }
  return counted;
}

std::string to_text(const std::vector<ShareCount>& shares) {
  std::string text;
  for (const ShareCount& count : shares)
    text += (text.empty() ? "" : " + ") + std::to_string(count.gpus) + "×" + count.type +
            " V=" + std::to_string(count.share.streams) +
            " a=" + std::to_string(count.share.accum_steps);
  return text;
}

}  // namespace jabas
