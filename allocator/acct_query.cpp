#include "allocator/acct_query.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <tuple>

#include "allocator/acct_time.h"
#include "allocator/error.h"

namespace jabas::acct {
namespace {

namespace fs = std::filesystem;

struct JournalPlace {
  std::string path, cluster, job_id;
};

std::vector<fs::directory_entry> entries(const fs::path& directory) {
  std::error_code failed;
  std::vector<fs::directory_entry> result;
  for (fs::directory_iterator at(directory, failed), end; !failed && at != end;
       at.increment(failed)) {
    result.push_back(*at);
  }
  if (failed) throw IoError("cannot read the state directory", directory.string(), failed.value());
  return result;
}

bool is_directory(const fs::directory_entry& entry) {
  std::error_code unreadable;  // a broken link is no directory
  return entry.is_directory(unreadable);
}

// By cluster, then by job id as a number.
std::vector<JournalPlace> journals(const Query& query) {
  std::vector<JournalPlace> places;
  std::error_code unreadable;
  if (query.root_may_be_missing && !fs::exists(query.root, unreadable) && !unreadable)
    return places;
  for (const auto& cluster : entries(query.root)) {
    if (!is_directory(cluster)) continue;
    for (const auto& job : entries(cluster.path())) {
      const std::string id = job.path().filename().string();
      const bool wanted = query.jobs.empty() ||
                          std::find(query.jobs.begin(), query.jobs.end(), id) != query.jobs.end();
      const fs::path journal = job.path() / "journal.jsonl";
      if (!wanted || !fs::exists(journal, unreadable)) continue;
      places.push_back({journal.string(), cluster.path().filename().string(), id});
    }
  }
  std::sort(places.begin(), places.end(), [](const JournalPlace& a, const JournalPlace& b) {
    return std::make_tuple(a.cluster, a.job_id.size(), a.job_id) <
           std::make_tuple(b.cluster, b.job_id.size(), b.job_id);
  });
  return places;
}

void cut(JobHistory& job, double start_s, double end_s) {
  const auto outside = [&](double from_s, double to_s) { return to_s < start_s || from_s > end_s; };
  std::erase_if(job.decisions, [&](const auto& d) { return outside(d.time_s, d.time_s); });
  std::erase_if(job.batches, [&](const auto& b) { return outside(b.time_s, b.time_s); });
  std::erase_if(job.members, [&](const auto& m) {
    const double still = std::numeric_limits<double>::infinity();
    return outside(m.submit_s, m.end_s > 0 ? m.end_s : m.run_over ? m.submit_s : still);
  });
}

}  // namespace

Selection select_jobs(const Query& query) {
  Selection selection;
  const bool rows = query.start_s || query.end_s;
  const double since = query.jobs.empty() ? midnight(query.now_s) : 0;
  for (const JournalPlace& place : journals(query)) {
    JobHistory job;
    try {
      job = read_history(place.path, place.cluster, place.job_id);
    } catch (const Error& error) {
      selection.errors.emplace_back(error.what());
      continue;
    }
    if (job.torn_tail) {
      selection.warnings.push_back(place.path + ": the last line is incomplete and was left out");
    }
    if (rows) {
      cut(job, query.start_s.value_or(since), query.end_s.value_or(query.now_s));
    } else if (query.jobs.empty() && !job.running) {
      const bool recent = std::any_of(job.decisions.begin(), job.decisions.end(),
                                      [&](const auto& d) { return d.time_s >= since; });
      if (!recent) continue;
    }
    selection.jobs.push_back(std::move(job));
  }
  return selection;
}

}  // namespace jabas::acct
