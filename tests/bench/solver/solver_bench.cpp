// How long a solve, a choice of (b, N) and reading a profile take: one line for each case with
// median and maximum of several runs. Nothing is compared with a limit.
//
//   build/bin/jabas_solver_bench [RUNS]       (default 21)
//
// Profiles are made up: types of unequal speed, up to 8 streams, 12 buckets, local batches 8 … 128.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>

#include "allocator/batch_choice.h"
#include "allocator/config_solver.h"
#include "allocator/error.h"
#include "allocator/profile.h"
#include "allocator/throughput_model.h"

namespace jabas {
namespace {

Profile made_up_profile(int types, int most_streams) {
  Profile profile;
  profile.model = "made up";
  for (int t = 0; t < types; ++t) {
    TypeProfile type;
    type.gpus_per_node = 8;
    const double s_per_sample = 0.8e-3 * (1 + 0.37 * t);
    for (const std::int64_t b : {8, 16, 32, 64, 128}) {
      const int streams = std::max(1, most_streams - t % 3);
      type.max_streams[b] = streams;
      for (int v = 1; v <= streams; ++v) {
        const double gain = 1 + 0.11 * std::log(v) * (1 + 0.1 * t);
        const double pass_s = double(b * v) * s_per_sample / gain + 0.004;
        type.points.push_back({b, v, 0.0001 * double(b), pass_s / 3, pass_s * 2 / 3, 0.005, 0, 0});
      }
    }
    profile.types["t" + std::to_string(t)] = type;
  }
  profile.bucket_bytes.assign(12, 8e6);
  profile.intra = {16e9, {{0.001, 0.002}, {0.01, 0.012}}};
  profile.inter = {12.5e9, {{0.001, 0.003}, {0.01, 0.015}}};
  return profile;
}

// `gpus` in all, as unequal as 1 : 2 : 3 : …
RankedGpus unequal_counts(int gpus, int types, const Profile& profile) {
  GpuCounts counts;
  int left = gpus;
  for (int t = 0; t < types; ++t) {
    const int rest = (types - t) * (types + t + 1) / 2;
    const int own = t + 1 == types ? left : std::max(1, left * (t + 1) / rest);
    counts["t" + std::to_string(t)] = own;
    left -= own;
  }
  return ranked(counts, profile);
}

double ms_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

void measure(const std::string& name, int runs, const std::function<void()>& work) {
  std::vector<double> ms;
  for (int run = 0; run < runs; ++run) ms.push_back(ms_of(work));
  std::sort(ms.begin(), ms.end());
  std::printf("%-80s median %9.3f ms  max %9.3f ms\n", name.c_str(), ms[ms.size() / 2], ms.back());
}

void solve_once(const RankedGpus& set, int workers, const ThroughputModel& model) {
  JABAS_ASSERT(solve(set, 32, workers, model).configuration, "more workers than GPUs");
}

void solves(int runs) {
  for (const int types : {1, 2, 4, 8})
    for (const int gpus : {8, 32, 128, 512, 1024, 4096})
      for (const int workers : {1024, 1031, 8192}) {
        if (workers < gpus || types > gpus) continue;
        const Profile profile = made_up_profile(types, 8);
        const ThroughputModel model(profile);
        const RankedGpus set = unequal_counts(gpus, types, profile);
        measure("solve " + std::to_string(gpus) + " GPUs, " + std::to_string(types) + " types, N " +
                    std::to_string(workers),
                runs,
                [&] { JABAS_ASSERT(solve(set, 32, workers, model).configuration, "feasible"); });
      }
}

// The slowest over V_max and N, each the best of three, so that other programs on the machine do
// not count.
void hardest_solve(int runs) {
  for (const int types : {1, 2, 8}) {
    double most_ms = 0;
    for (int streams = 1; streams <= 8; ++streams) {
      const Profile profile = made_up_profile(types, streams);
      const ThroughputModel model(profile);
      const RankedGpus set = unequal_counts(4096, types, profile);
      for (int workers = 8192, run = 0; run < runs && workers >= 4096; ++run, workers -= 157) {
        double ms = std::numeric_limits<double>::infinity();
        for (int repeat = 0; repeat < 3; ++repeat)
          ms = std::min(ms, ms_of([&] { solve_once(set, workers, model); }));
        most_ms = std::max(most_ms, ms);
      }
    }
    std::printf("solve 4096 GPUs, %d types, V_max 1 … 8, N 8192 and below: slowest %9.3f ms\n",
                types, most_ms);
  }
}

void choices(int runs) {
  for (const int types : {1, 2, 4})
    for (const int gpus : {8, 32, 256})
      for (const double wanted : {1000., 4096., 32768.}) {
        const Profile profile = made_up_profile(types, 4);
        const ThroughputModel model(profile);
        const RankedGpus set = unequal_counts(gpus, types, profile);
        const std::string what = std::to_string(gpus) + " GPUs, " + std::to_string(types) +
                                 " types, B " + std::to_string(int(wanted));
        measure("choose_batch " + what, runs, [&] { choose_batch_on(wanted, set, {}, model); });
        BatchChooser chooser(set, {}, model);
        double batch = wanted;
        measure("the same on a prepared set, next B, without shares " + what, runs,
                [&] { chooser.point(batch *= 1.013); });
      }
}

void profiles(int runs) {
  for (const int types : {2, 8}) {
    const Profile profile = made_up_profile(types, 8);
    const std::string text = to_json_text(profile);
    measure("profile read from JSON, " + std::to_string(types) + " types", runs,
            [&] { profile_from_json(text, "made up"); });
    measure("throughput model of a profile, " + std::to_string(types) + " types", runs,
            [&] { ThroughputModel model(profile); });
  }
}

}  // namespace
}  // namespace jabas

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 21;
  jabas::solves(runs);
  jabas::hardest_solve(runs);
  jabas::choices(runs);
  jabas::profiles(runs);
}
