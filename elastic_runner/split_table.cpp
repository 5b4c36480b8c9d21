#include "elastic_runner/split_table.h"

#include <algorithm>
#include <charconv>

#include "allocator/error.h"

namespace jabas {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

int value_of(const std::string& option, const SplitTable& table, int epoch, int rank, int workers,
             int otherwise) {
  if (table.empty()) return otherwise;
  const auto& entry = table[std::min<std::size_t>(std::size_t(epoch), table.size()) - 1];
  if (entry.size() == 1) return entry.front();
  if (std::ssize(entry) != workers) {
    throw UsageError(option + ": epoch " + std::to_string(epoch) + " lists " +
                     std::to_string(entry.size()) + " workers but has " + std::to_string(workers) +
                     "; accepted are one value for all or one per worker; nothing was started");
  }
  return entry[std::size_t(rank)];
}

}  // namespace

SplitTable parse_split_table(const std::string& option, const std::string& text, int least) {
  SplitTable table;
  for (const auto& epoch : split(text, ',')) {
    table.emplace_back();
    for (const auto& word : split(epoch, ':')) {
      int value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error != std::errc() || end != word.data() + word.size() || value < least ||
          value > 4096) {
        throw UsageError(option + "=" + text + ": '" + word + "' is not a whole number in " +
                         std::to_string(least) +
                         "..4096; accepted is N, or N per epoch (',') and per worker (':')");
      }
      table.back().push_back(value);
    }
  }
  return table;
}

int workers_in_epoch(const std::vector<int>& workers_per_epoch, int epoch) {
  return workers_per_epoch[std::min<std::size_t>(std::size_t(epoch), workers_per_epoch.size()) - 1];
}

std::vector<GpuShare> table_shares(const TrainingSpec& spec, int epoch, int workers) {
  std::vector<GpuShare> shares;
  for (int rank = 0; rank < workers; ++rank) {
    shares.push_back({value_of("--vsw", spec.vsw, epoch, rank, workers, 1),
                      value_of("--accum", spec.accum, epoch, rank, workers, 0)});
  }
  return shares;
}

int virtual_workers_of(const std::vector<GpuShare>& shares) {
  int sum = 0;
  for (const auto& share : shares) sum += share.workers();
  return sum;
}

}  // namespace jabas
