// The table of FP32 TFLOP/s by GPU name: nominal boost figures of the vendors' data sheets, as the
// paper uses them (14.13 for a V100-PCIe, 9.52 for a P100-PCIe). Only ratios between types matter.
#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "allocator/profile.h"

namespace jabas {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 50> kTflops = {{
    {"k40", 5.04},      {"k80", 4.11},       {"m40", 6.83},        {"m60", 4.83},
    {"p4", 5.70},       {"p40", 11.76},      {"p100", 9.52},       {"v100", 14.13},
    {"v100s", 16.35},   {"t4", 8.14},        {"gtx1080", 8.87},    {"gtx1080ti", 11.34},
    {"titanx", 10.97},  {"titanxp", 12.15},  {"titanv", 14.90},    {"titanrtx", 16.31},
    {"rtx2070", 7.47},  {"rtx2080", 10.07},  {"rtx2080ti", 13.45}, {"2080ti", 13.45},
    {"rtx4000", 7.12},  {"rtx5000", 11.15},  {"rtx6000", 16.31},   {"rtx8000", 16.31},
    {"rtx3080", 29.77}, {"rtx3090", 35.58},  {"rtx4080", 48.74},   {"rtx4090", 82.58},
    {"rtx5090", 104.8}, {"rtxa4000", 19.17}, {"rtxa5000", 27.77},  {"rtxa6000", 38.71},
    {"a4000", 19.17},   {"a5000", 27.77},    {"a6000", 38.71},     {"rtx6000ada", 91.06},
    {"a2", 4.53},       {"a10", 31.24},      {"a16", 4.49},        {"a30", 10.32},
    {"a40", 37.42},     {"a100", 19.49},     {"l4", 30.29},        {"l40", 90.52},
    {"l40s", 91.61},    {"h100", 66.91},     {"h200", 66.91},      {"gh200", 66.91},
    {"b200", 80.00},    {"mi210", 22.63},
}};

bool ends_name(char c) { return c == '-' || c == '_' || c == '.'; }

}  // namespace

double builtin_tflops(const std::string& type) {
  std::string name = type;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  for (const std::string_view vendor :
       {"nvidia_", "nvidia-", "tesla_", "tesla-", "geforce_", "geforce-"})
    if (name.starts_with(vendor)) name.erase(0, vendor.size());
  // NVML's spelling, as gres.conf with AutoDetect gives it: "rtx_2080_ti", "a100-sxm4-80gb".
  std::string joined;
  std::copy_if(name.begin(), name.end(), std::back_inserter(joined),
               [](char c) { return !ends_name(c); });
  for (const auto& [known, tflops] : kTflops)
    if (joined == known) return tflops;
  double best = 0;
  std::size_t longest = 0;
  for (const auto& [known, tflops] : kTflops) {
    const bool begins =
        name.starts_with(known) && name.size() > known.size() && ends_name(name[known.size()]);
    if (begins && known.size() > longest) {
      longest = known.size();
      best = tflops;
    }
  }
  return best;
}

}  // namespace jabas
