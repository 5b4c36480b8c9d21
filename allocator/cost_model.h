// Prices per GPU-hour by type: parsing of price files and the fallback by TFLOP/s (shared design "model" 8).
// Pure: the text comes from a file or URL read elsewhere.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "allocator/gpu_set.h"

namespace jabas {

constexpr double kSecondsPerHour = 3600;

struct PriceList {
  std::map<std::string, double> usd_per_gpu_h;
  std::string source;   // file, URL or "built-in: 3.06 $/h at 14.13 TFLOP/s"
};

// JSON {"v100":3.06,…} (also {"prices":{…}}) or CSV lines "type,usd_per_gpu_hour" with an optional header and # comments.
// Throws InputError naming source, line or key, value and what is accepted (a finite number ≥ 0).
PriceList parse_prices(const std::string& text, const std::string& source);

// Prices ∝ TFLOP/s for the types of the built-in table. Types in `types` without a known TFLOP/s are left out.
PriceList builtin_prices(const std::vector<std::string>& types);

// $ per hour of the whole set. Throws InputError naming the type without price.
double price_per_h(const GpuCounts& gpus, const PriceList& prices);

}  // namespace jabas
