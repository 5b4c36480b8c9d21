#include "allocator/simulator/availability.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "allocator/csv_table.h"
#include "allocator/error.h"

namespace jabas::sim {
namespace {

// More GPUs of one type than anybody has, yet few enough to be enumerated.
constexpr int kMostGpus = 100'000;
constexpr double kLongest_s = 1e10;  // 300 years

}  // namespace

Availability::Availability(GpuCounts cluster, const CsvTable& changes)
    : cluster_(std::move(cluster)) {
  const std::size_t time = changes.column("time_s"), type = changes.column("type"),
                    gpus = changes.column("gpus");
  const bool waits = changes.has("wait_s");
  for (std::size_t row = 0; row < changes.rows(); ++row) {
    const std::string& name = changes.text(row, type);
    const auto known = cluster_.find(name);
    if (known == cluster_.end())
      changes.fail(row, type,
                   "'" + name + "' is not a GPU type of the cluster " + to_list(cluster_));
    const Change change{changes.number(row, time, 0, kLongest_s),
                        int(changes.integer(row, gpus, 0, kMostGpus)),
                        waits ? changes.number(row, changes.column("wait_s"), 0, kLongest_s) : 0};
    changes_[name].push_back({change.time_s, std::min(change.gpus, known->second), change.wait_s});
  }
  for (auto& [name, list] : changes_)
    std::stable_sort(list.begin(), list.end(),
                     [](const Change& a, const Change& b) { return a.time_s < b.time_s; });
}

const Availability::Change* Availability::change(const std::string& type, double time_s) const {
  const auto list = changes_.find(type);
  if (list == changes_.end()) return nullptr;
  const auto after =
      std::upper_bound(list->second.begin(), list->second.end(), time_s,
                       [](double time, const Change& change) { return time < change.time_s; });
  return after == list->second.begin() ? nullptr : &*(after - 1);
}

GpuCounts Availability::gpus(double time_s) const {
  GpuCounts result;
  for (const auto& [type, count] : cluster_) {
    const Change* now = change(type, time_s);
    result[type] = now ? now->gpus : count;
  }
  return normalized(result);
}

double Availability::wait_s(const std::string& type, double time_s) const {
  const Change* now = change(type, time_s);
  return now ? now->wait_s : 0;
}

double Availability::next_change(double time_s) const {
  double next = std::numeric_limits<double>::infinity();
  for (const auto& [type, list] : changes_)
    for (const Change& change : list)
      if (change.time_s > time_s) next = std::min(next, change.time_s);
  return next;
}

GpuCounts parse_cluster(const std::string& text, const std::string& option) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError(option + "=" + text + ": " + why + "; accepted: TYPE:COUNT[,TYPE:COUNT...]");
  };
  GpuCounts cluster;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(",+", start), text.size());
    const std::string entry = text.substr(start, end - start);
    start = end + 1;
    const auto colon = entry.find(':');
    if (colon == std::string::npos || colon == 0) refuse("'" + entry + "' is not TYPE:COUNT");
    int count = 0;
    const char* last = entry.data() + entry.size();
    const auto [stop, error] = std::from_chars(entry.data() + colon + 1, last, count);
    if (error != std::errc{} || stop != last || count < 0 || count > kMostGpus)
      refuse("'" + entry.substr(colon + 1) + "' is not a count of 0 to " +
             std::to_string(kMostGpus));
    if (!cluster.emplace(entry.substr(0, colon), count).second)
      refuse("type " + entry.substr(0, colon) + " is given twice");
  }
  if (total(cluster) == 0) refuse("no GPU");
  return cluster;
}

}  // namespace jabas::sim
