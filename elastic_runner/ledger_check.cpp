#include "elastic_runner/ledger_check.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "allocator/error.h"
#include "elastic_runner/ledger.h"

namespace jabas {
namespace {

using nlohmann::json;
using StepKey = std::pair<int, std::int64_t>;  // (generation, step)

struct Read {
  StepKey key;
  int epoch = 0;
  std::string where;  // file:line
  std::vector<std::int64_t> samples;
};

struct Contents {
  int files = 0;
  std::int64_t train_samples = -1;
  std::vector<Read> reads;
  std::set<StepKey> committed;
};

void add_record(Contents& contents, const json& record, const std::string& where) {
  if (record.contains("ledger")) {
    const int version = record.at("ledger").get<int>();
    if (version != kLedgerVersion) {
      throw InputError(where + ": ledger version " + std::to_string(version) + ": accepted is " +
                       std::to_string(kLedgerVersion));
    }
    const auto samples = record.at("train_samples").get<std::int64_t>();
    if (contents.train_samples >= 0 && contents.train_samples != samples) {
      throw InputError(where + ": train_samples " + std::to_string(samples) +
                       ", but another worker had " + std::to_string(contents.train_samples) +
                       ": not one run");
    }
    contents.train_samples = samples;
  } else if (record.contains("read")) {
    contents.reads.push_back(
        {{record.at("generation").get<int>(), record.at("read").get<std::int64_t>()},
         record.at("epoch").get<int>(),
         where,
         record.at("samples").get<std::vector<std::int64_t>>()});
  } else {
    contents.committed.emplace(record.at("generation").get<int>(),
                               record.at("committed").get<std::int64_t>());
  }
}

void add_file(Contents& contents, const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw IoError("cannot read the ledger", path.string(), errno);
  // A line cut by a kill is the last one (no newline), or followed by the header of the worker's
  // next life.
  std::string line, broken;
  bool torn = false;
  for (int number = 1; std::getline(file, line); ++number) {
    torn = file.eof();
    const std::string where = path.filename().string() + ":" + std::to_string(number);
    const json record = json::parse(line, nullptr, false);
    if (!broken.empty() && !(record.is_object() && record.contains("ledger"))) break;
    broken = record.is_discarded() ? where : "";
    if (record.is_discarded()) continue;
    try {
      add_record(contents, record, where);
    } catch (const json::exception& error) {
      throw InputError(where + ": not a ledger record: " + error.what());
    }
  }
  if (!broken.empty() && !torn) throw InputError(broken + ": not a ledger record: not JSON");
  ++contents.files;
}

Contents read_all(const std::string& directory) {
  Contents contents;
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("ledger-") && name.ends_with(".jsonl")) paths.push_back(entry.path());
  }
  if (error) throw IoError("cannot read the ledger's folder", directory, error.value());
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) add_file(contents, path);
  return contents;
}

// For each generation, the least committed step of all newer ones; what it did from there on was
// taken back.
bool counts(const StepKey& key, const std::set<StepKey>& committed,
            const std::map<int, std::int64_t>& taken_back_from) {
  return committed.contains(key) && key.second < taken_back_from.at(key.first);
}

std::map<int, std::int64_t> taken_back(const std::set<StepKey>& committed) {
  std::map<int, std::int64_t> from;
  std::int64_t least = INT64_MAX;
  std::set<int> generations;
  for (const auto& [generation, step] : committed) generations.insert(generation);
  for (auto generation = generations.rbegin(); generation != generations.rend(); ++generation) {
    from[*generation] = least;
    least = std::min(least, committed.lower_bound({*generation, INT64_MIN})->second);
  }
  return from;
}

std::string places(const std::vector<const Read*>& reads, std::int64_t sample) {
  std::string text;
  for (const Read* read : reads) {
    for (std::int64_t index : read->samples) {
      if (index != sample) continue;
      text += (text.empty() ? "" : ", ") + read->where + " (step " +
              std::to_string(read->key.second) + ", generation " + std::to_string(read->key.first) +
              ")";
    }
  }
  return text;
}

// Adds a line per sample of the epoch that is missing, double or not in the training set.
void check_epoch(LedgerReport& report, int epoch, const std::vector<const Read*>& reads,
                 std::int64_t samples) {
  const std::string prefix = "epoch " + std::to_string(epoch) + ": sample ";
  std::vector<int> times(std::size_t(samples), 0);
  std::set<std::int64_t> unknown;
  for (const Read* read : reads) {
    for (std::int64_t index : read->samples) {
      if (index >= 0 && index < samples) {
        ++times[std::size_t(index)];
      } else {
        unknown.insert(index);
      }
    }
  }
  for (std::int64_t index : unknown) {
    report.problems.push_back(prefix + std::to_string(index) + ": not in the training set of " +
                              std::to_string(samples) + ": " + places(reads, index));
  }
  for (std::int64_t index = 0; index < samples; ++index) {
    const int count = times[std::size_t(index)];
    if (count == 1) continue;
    report.problems.push_back(
        prefix + std::to_string(index) +
        (count == 0 ? ": missing"
                    : ": read " + std::to_string(count) + " times: " + places(reads, index)));
  }
}

}  // namespace

LedgerReport check_ledger(const std::string& directory) {
  const Contents contents = read_all(directory);
  if (contents.files == 0) throw InputError(directory + ": no ledger-*.jsonl in this folder");
  if (contents.train_samples < 0) throw InputError(directory + ": no ledger has its header record");
  const auto from = taken_back(contents.committed);
  std::map<int, std::vector<const Read*>> epochs;
  for (const Read& read : contents.reads) {
    if (counts(read.key, contents.committed, from)) epochs[read.epoch].push_back(&read);
  }
  LedgerReport report;
  if (epochs.empty()) throw InputError(directory + ": the ledgers name no committed step");
  const int first = epochs.begin()->first, last = epochs.rbegin()->first;
  for (int epoch = first; epoch <= last; ++epoch) {
    check_epoch(report, epoch, epochs[epoch], contents.train_samples);
  }
  report.summary = std::to_string(contents.files) + " ledgers, epochs " + std::to_string(first) +
                   ".." + std::to_string(last) + ", " + std::to_string(contents.train_samples) +
                   " samples each: " +
                   (report.problems.empty() ? "every sample exactly once"
                                            : std::to_string(report.problems.size()) + " problems");
  return report;
}

int last_ledger_generation(const std::string& directory) {
  if (directory.empty() || !std::filesystem::is_directory(directory)) return 0;
  int last = 0;
  const Contents contents = read_all(directory);
  for (const auto& [generation, step] : contents.committed) last = std::max(last, generation);
  for (const auto& read : contents.reads) last = std::max(last, read.key.first);
  return last;
}

}  // namespace jabas
