// The engine beside hand-written training, by the goals of docs/results.md. See the script beside
// it.
#include "tests/bench/engine_bench.h"

#include <ATen/Parallel.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using namespace jabas;

bool wanted(const std::string& only, const char* name) { return only == "all" || only == name; }

}  // namespace

int main(int count, char** arguments) {
  at::set_num_threads(1);
  if (count == 3 && std::string(arguments[1]) == "memory-of") {
    bench::print_memory_of(std::atoi(arguments[2]));
    return 0;
  }
  const std::string only = count > 1 ? arguments[1] : "all";
  const int repetitions = count > 2 ? std::max(3, std::atoi(arguments[2])) : 40;
  const bench::BenchData data;
  std::printf("%-44s %14s %14s %8s  %s\n", "", "engine", "beside", "ratio", "goal");
  if (wanted(only, "step")) bench::bench_step(data, repetitions);
  if (wanted(only, "streams")) bench::bench_streams(data, repetitions);
  if (wanted(only, "overlap")) bench::bench_overlap(data, repetitions);
  if (wanted(only, "checkpoint")) bench::bench_checkpoint(data, 7);
  if (wanted(only, "measuring")) bench::bench_measuring(data, repetitions);
  if (wanted(only, "memory")) bench::bench_memory(arguments[0]);
}
