// What the benchmarks share: clocks, medians and the lines of a table.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace jabas::bench {

inline double seconds_of(const std::function<void()>& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// "what          12.3 ms    11.9 ms   1.03  <= 1.02"
inline void print_row(const std::string& what, const std::string& own, const std::string& other,
                      double ratio, const std::string& goal) {
  std::printf("%-44s %14s %14s %8.3f  %s\n", what.c_str(), own.c_str(), other.c_str(), ratio,
              goal.c_str());
  std::fflush(stdout);
}

inline std::string milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f ms", seconds * 1e3);
  return text;
}

}  // namespace jabas::bench
