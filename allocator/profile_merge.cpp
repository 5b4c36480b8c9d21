#include "allocator/profile_merge.h"

#include <algorithm>
#include <array>

#include "allocator/csv_table.h"
#include "allocator/error.h"
#include "allocator/option_text.h"

namespace jabas {
namespace {

std::string shown(const std::string& text) { return "'" + text + "'"; }
std::string shown(bool flag) { return flag ? "true" : "false"; }
std::string shown(double number) { return shortest_text(number); }
std::string shown(int number) { return std::to_string(number); }
std::string shown(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) text += (text.empty() ? "" : ", ") + shown(number);
  return "[" + text + "]";
}
std::string shown(const std::vector<std::pair<double, double>>& pairs) {
  std::string text;
  for (const auto& [x, y] : pairs)
    text += (text.empty() ? "[" : ", [") + shown(x) + ", " + shown(y) + "]";
  return "[" + text + "]";
}

// Compares what two files say, key by key.
class Comparison {
 public:
  Comparison(const std::string& a_file, const std::string& b_file)
      : a_file_(a_file), b_file_(b_file) {}

  template <typename Value>
  void same(const std::string& key, const Value& a, const Value& b) const {
    if (a == b) return;
    throw InputError(key + ": " + shown(a) + " in " + a_file_ + ", " + shown(b) + " in " + b_file_ +
                     ": they must agree to be united");
  }
  // Nothing said agrees with anything.
  template <typename Value>
  void same_if_said(const std::string& key, const Value& a, const Value& b) const {
    if (a != Value{} && b != Value{}) same(key, a, b);
  }

  void networks(const std::string& key, const CommunicationProfile& a,
                const CommunicationProfile& b) const {
    if (a.bandwidth_bytes_per_s <= 0 || b.bandwidth_bytes_per_s <= 0) return;
    same(key + ".bandwidth_bytes_per_s", a.bandwidth_bytes_per_s, b.bandwidth_bytes_per_s);
    same(key + ".points", a.points, b.points);
  }

  void points(const std::string& key, const ComputePoint& a, const ComputePoint& b) const {
    static constexpr std::array<std::pair<const char*, double ComputePoint::*>, 6> kTimes = {{
        {"data_s", &ComputePoint::data_s},
        {"forward_s", &ComputePoint::forward_s},
        {"backward_s", &ComputePoint::backward_s},
        {"update_s", &ComputePoint::update_s},
        {"copy_s", &ComputePoint::copy_s},
        {"bn_sync_s", &ComputePoint::bn_sync_s},
    }};
    for (const auto& [name, time] : kTimes) same(key + "." + name, a.*time, b.*time);
  }

  void exposed(const std::string& key, const ExposedSync& a, const ExposedSync& b) const {
    same(key + ".base_s", a.base_s, b.base_s);
    same(key + ".per_doubling_s", a.per_doubling_s, b.per_doubling_s);
    same(key + ".three_nodes_s", a.three_nodes_s, b.three_nodes_s);
  }

 private:
  const std::string &a_file_, &b_file_;
};

std::pair<std::int64_t, int> place(const ComputePoint& point) {
  return {point.local_batch, point.streams};
}
std::pair<std::int64_t, int> place(const ExposedSync& point) { return {point.local_batch, 0}; }

template <typename Point>
const Point* find(const std::vector<Point>& points, const Point& wanted) {
  const auto found = std::find_if(points.begin(), points.end(), [&](const Point& point) {
    return place(point) == place(wanted);
  });
  return found == points.end() ? nullptr : &*found;
}

// What was measured with more streams than the other file says to fit.
void check_limits(const std::string& key, const NamedType& limited, const NamedType& measured) {
  for (const ComputePoint& point : measured.type.points) {
    const auto limit = limited.type.max_streams.find(point.local_batch);
    if (limit != limited.type.max_streams.end() && limit->second < point.streams)
      throw InputError(key + ".max_streams." + std::to_string(point.local_batch) + ": " +
                       shown(limit->second) + " in " + limited.file + ", but " +
                       shown(point.streams) + " streams measured in " + measured.file +
                       ": they must agree to be united");
  }
}

void check_sync(const Comparison& comparison, const std::string& key,
                const std::vector<ExposedSync>& a, const std::vector<ExposedSync>& b) {
  for (const ExposedSync& point : a)
    if (const ExposedSync* other = find(b, point))
      comparison.exposed(key + " (local batch " + std::to_string(point.local_batch) + ")", point,
                         *other);
}

void check_agreement(const std::string& name, const NamedType& a, const NamedType& b) {
  const Comparison comparison(a.file, b.file);
  const std::string key = "types." + name;
  comparison.same_if_said(key + ".gpu", a.type.gpu, b.type.gpu);
  comparison.same_if_said(key + ".tflops", a.type.tflops, b.type.tflops);
  comparison.same(key + ".gpus_per_node", a.type.gpus_per_node, b.type.gpus_per_node);
  comparison.same(key + ".scaled", a.type.scaled, b.type.scaled);
  for (const auto& [batch, streams] : a.type.max_streams) {
    const auto other = b.type.max_streams.find(batch);
    if (other != b.type.max_streams.end())
      comparison.same(key + ".max_streams." + std::to_string(batch), streams, other->second);
  }
  for (const ComputePoint& point : a.type.points)
    if (const ComputePoint* other = find(b.type.points, point))
      comparison.points(key + ".points (local batch " + std::to_string(point.local_batch) +
                            ", streams " + std::to_string(point.streams) + ")",
                        point, *other);
  check_limits(key, a, b);
  check_limits(key, b, a);
  comparison.networks(key + ".network.intra", a.type.intra, b.type.intra);
  comparison.networks(key + ".network.inter", a.type.inter, b.type.inter);
  check_sync(comparison, key + ".sync.intra", a.type.sync_intra, b.type.sync_intra);
  check_sync(comparison, key + ".sync.inter", a.type.sync_inter, b.type.sync_inter);
}

template <typename Point>
void unite(std::vector<Point>* into, const std::vector<Point>& from) {
  for (const Point& point : from)
    if (!find(*into, point)) into->push_back(point);
  std::sort(into->begin(), into->end(),
            [](const Point& a, const Point& b) { return place(a) < place(b); });
}

void unite(CommunicationProfile* into, const CommunicationProfile& from) {
  if (into->bandwidth_bytes_per_s <= 0) *into = from;
}

void unite(TypeProfile* into, const TypeProfile& from) {
  if (into->gpu.empty()) into->gpu = from.gpu;
  if (into->tflops <= 0) into->tflops = from.tflops;
  into->max_streams.insert(from.max_streams.begin(), from.max_streams.end());
  unite(&into->points, from.points);
  unite(&into->intra, from.intra);
  unite(&into->inter, from.inter);
  unite(&into->sync_intra, from.sync_intra);
  unite(&into->sync_inter, from.sync_inter);
}

// Calls check(a, b) for every two of them.
template <typename Item, typename Check>
void for_each_pair(const std::vector<Item>& items, Check check) {
  for (std::size_t i = 0; i < items.size(); ++i)
    for (std::size_t j = i + 1; j < items.size(); ++j) check(items[i], items[j]);
}

bool networks_differ(const CommunicationProfile& a, const CommunicationProfile& b) {
  return a.bandwidth_bytes_per_s > 0 && b.bandwidth_bytes_per_s > 0 &&
         (a.bandwidth_bytes_per_s != b.bandwidth_bytes_per_s || a.points != b.points);
}

// The file's network becomes each type's own.
void give_networks_to_types(Profile* profile) {
  const auto give = [](CommunicationProfile* own, const CommunicationProfile& shared) {
    if (own->bandwidth_bytes_per_s <= 0)
      *own = shared;
    else if (own->points.empty())
      own->points = shared.points;  // as the model would take them
  };
  for (auto& [name, type] : profile->types) {
    give(&type.intra, profile->intra);
    give(&type.inter, profile->inter);
  }
  profile->intra = profile->inter = {};
}

}  // namespace

TypeProfile merge_types(const std::string& name, const std::vector<NamedType>& types) {
  JABAS_ASSERT(!types.empty(), "a type is told by one file at least");
  for_each_pair(types,
                [&](const NamedType& a, const NamedType& b) { check_agreement(name, a, b); });
  TypeProfile merged = types.front().type;
  for (const NamedType& other : types) unite(&merged, other.type);
  return merged;
}

Profile merge_profiles(std::vector<Profile> profiles) {
  JABAS_ASSERT(!profiles.empty(), "there is a profile to merge");
  bool own_networks = false;
  for_each_pair(profiles, [&](const Profile& a, const Profile& b) {
    const Comparison comparison(a.source, b.source);
    comparison.same_if_said("model", a.model, b.model);
    comparison.same_if_said("network.bucket_bytes", a.bucket_bytes, b.bucket_bytes);
    own_networks =
        own_networks || networks_differ(a.intra, b.intra) || networks_differ(a.inter, b.inter);
  });
  Profile merged;
  std::map<std::string, std::vector<NamedType>> types;
  for (Profile& profile : profiles) {
    if (own_networks) give_networks_to_types(&profile);
    merged.source += (merged.source.empty() ? "" : " + ") + profile.source;
    if (merged.model.empty()) merged.model = profile.model;
    if (merged.bucket_bytes.empty()) merged.bucket_bytes = profile.bucket_bytes;
    unite(&merged.intra, profile.intra);
    unite(&merged.inter, profile.inter);
    for (const auto& [name, type] : profile.types) types[name].push_back({profile.source, type});
  }
  for (const auto& [name, told] : types) merged.types[name] = merge_types(name, told);
  return merged;
}

}  // namespace jabas
