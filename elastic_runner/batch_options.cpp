#include "elastic_runner/batch_options.h"

#include <algorithm>
#include <cmath>

#include "allocator/profile.h"
#include "elastic_runner/option_checks.h"
#include "elastic_runner/split_table.h"

namespace jabas {
namespace {

bool fixed_split(const TrainingSpec& spec) { return !spec.vsw.empty() || !spec.accum.empty(); }

// N when it was not given.
std::int64_t derived_workers(const TrainingSpec& spec) {
  if (spec.workers_per_epoch.empty()) return 0;
  if (fixed_split(spec)) {
    return virtual_workers_of(table_shares(spec, 1, workers_in_epoch(spec.workers_per_epoch, 1)));
  }
  const std::int64_t batch = spec.batch_initial > 0 ? spec.batch_initial : spec.batch_min;
  if (batch > 0)
    return std::max<std::int64_t>(1, std::llround(double(batch) / double(spec.local_batch)));
  return *std::max_element(spec.workers_per_epoch.begin(), spec.workers_per_epoch.end());
}

// Every epoch up to the last one that differs.
void check_split(const TrainingSpec& spec) {
  const std::size_t epochs =
      std::max({spec.workers_per_epoch.size(), spec.vsw.size(), spec.accum.size()});
  for (int epoch = 1; epoch <= std::min<int>(int(epochs), spec.epochs); ++epoch) {
    const int workers = workers_in_epoch(spec.workers_per_epoch, epoch);
    require(spec.virtual_workers >= workers || spec.adaptive,
            "--virtual-workers=" + std::to_string(spec.virtual_workers) + ": epoch " +
                std::to_string(epoch) + " has " + std::to_string(workers) +
                " workers and each needs at least one; nothing was started");
    if (!fixed_split(spec)) continue;
    const int sum = virtual_workers_of(table_shares(spec, epoch, workers));
    require(sum == spec.virtual_workers,
            "--vsw, --accum: epoch " + std::to_string(epoch) +
                " has Σ V·(A+1) = " + std::to_string(sum) + " virtual workers, but the run has " +
                std::to_string(spec.virtual_workers) + "; nothing was started");
  }
}

}  // namespace

void resolve_batch(TrainingSpec& spec, const BatchOptions& options) {
  for (const auto& [name, value] : {std::pair{"--virtual-workers", spec.virtual_workers},
                                    {"--batch-min", spec.batch_min},
                                    {"--batch-max", spec.batch_max},
                                    {"--batch-initial", spec.batch_initial}}) {
    require(!options.given.contains(name) || (value >= 1 && value <= 1'000'000'000),
            std::string(name) + "=" + std::to_string(value) +
                ": accepted is a whole number in 1..1000000000");
  }
  require(options.adaptive.empty() || options.adaptive == "on" || options.adaptive == "off",
          "--adaptive=" + options.adaptive + ": accepted are on and off");
  require(!options.similarity_target_given ||
              (spec.similarity_target > 0 && spec.similarity_target < 1),
          "--similarity-target=" + std::to_string(spec.similarity_target) +
              ": accepted is a number between 0 and 1, both excluded");

  if (spec.virtual_workers == 0) spec.virtual_workers = derived_workers(spec);
  const std::int64_t start = spec.local_batch * spec.virtual_workers;
  if (spec.batch_min == 0) spec.batch_min = spec.batch_initial > 0 ? spec.batch_initial : start;
  if (spec.batch_max == 0) spec.batch_max = spec.batch_min;
  if (spec.batch_initial == 0) spec.batch_initial = spec.batch_min;
  require(spec.batch_min <= spec.batch_max,
          "--batch-min=" + std::to_string(spec.batch_min) + ": is larger than --batch-max=" +
              std::to_string(spec.batch_max) + "; accepted is MIN ≤ MAX");
  require(spec.batch_max <= kMaxGlobalBatch, "--batch-max=" + std::to_string(spec.batch_max) +
                                                 ": accepted is at most " +
                                                 std::to_string(kMaxGlobalBatch));
  require(spec.batch_min <= spec.batch_initial && spec.batch_initial <= spec.batch_max,
          "--batch-initial=" + std::to_string(spec.batch_initial) + ": accepted is " +
              std::to_string(spec.batch_min) + ".." + std::to_string(spec.batch_max) +
              " (--batch-min to --batch-max)");

  spec.adaptive =
      options.adaptive == "on" || (options.adaptive.empty() && spec.batch_max > spec.batch_min);
  if (spec.adaptive) {
    require(!lacks_similarity_target(spec),
            "--similarity-target: required when the batch is adaptive; accepted is a number "
            "between 0 and 1 "
            "(or --adaptive=off)");
    require(!fixed_split(spec),
            "--vsw, --accum: fix the virtual workers, so they need --adaptive=off");
  } else if (options.given.contains("--virtual-workers")) {
    require(!options.given.contains("--batch-initial") || spec.batch_initial == start,
            "--batch-initial=" + std::to_string(spec.batch_initial) +
                ": --local-batch × --virtual-workers is " + std::to_string(start) +
                "; give one of them");
  }
  if (!spec.workers_per_epoch.empty()) check_split(spec);
}

}  // namespace jabas
