#include "allocator/cost_model.h"

#include <cmath>
#include <cstdlib>

#include "allocator/error.h"
#include "allocator/json_reader.h"
#include "allocator/profile.h"

namespace jabas {
namespace {

// 3.06 $ per GPU-hour at the 14.13 TFLOP/s of a V100: the paper's price rule.
constexpr double kUsdPerHourOfV100 = 3.06, kTflopsOfV100 = 14.13;

std::string trim(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::map<std::string, double> parse_json(const std::string& text, const std::string& source) {
  JsonReader reader = JsonReader::parse(text, source);
  if (reader.has("prices")) {
    JsonReader top = reader;
    reader = top.object("prices");
    top.finish();
  }
  std::map<std::string, double> prices;
  for (const std::string& type : reader.keys()) prices[type] = reader.number(type);
  return prices;
}

std::map<std::string, double> parse_csv(const std::string& text, const std::string& source) {
  std::map<std::string, double> prices;
  bool header_allowed = true;
  int line_number = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    std::string line = text.substr(start, end - start);
    start = end + 1;
    ++line_number;
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::string where = source + ": line " + std::to_string(line_number) + ": ";
    const auto comma = line.find(',');
    if (comma == std::string::npos)
      throw InputError(where + "'" + line + "' is not TYPE,PRICE_PER_GPU_HOUR");
    const std::string type = trim(line.substr(0, comma)), value = trim(line.substr(comma + 1));
    const bool is_header = header_allowed && (type == "type" || type == "gpu_type");
    header_allowed = false;
    if (is_header) continue;
    char* stop = nullptr;
    const double price = std::strtod(value.c_str(), &stop);
    if (type.empty()) throw InputError(where + "'" + line + "' names no GPU type");
    if (value.empty() || *stop != '\0' || !std::isfinite(price) || price < 0)
      throw InputError(where + "price '" + value + "' of " + type +
                       " is not accepted: must be a finite number of at least 0");
    if (!prices.emplace(type, price).second)
      throw InputError(where + type + " has a price already");
  }
  return prices;
}

}  // namespace

PriceList parse_prices(const std::string& text, const std::string& source) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos)
    throw InputError(source + ": is empty: must be JSON {\"TYPE\": price} or lines TYPE,PRICE");
  PriceList list{text[first] == '{' ? parse_json(text, source) : parse_csv(text, source), source};
  if (list.usd_per_gpu_h.empty()) throw InputError(source + ": has no price");
  return list;
}

PriceList builtin_prices(const std::vector<std::string>& types) {
  PriceList list{{}, "built-in: 3.06 $/h at 14.13 TFLOP/s"};
  for (const std::string& type : types)
    if (const double tflops = builtin_tflops(type); tflops > 0)
      list.usd_per_gpu_h[type] = kUsdPerHourOfV100 * tflops / kTflopsOfV100;
  return list;
}

double price_per_h(const GpuCounts& gpus, const PriceList& prices) {
  double sum = 0;
  for (const auto& [type, count] : gpus) {
    if (count == 0) continue;
    const auto found = prices.usd_per_gpu_h.find(type);
    if (found == prices.usd_per_gpu_h.end())
      throw InputError("no price for GPU type " + type + " (" + prices.source +
                       "): give one with --jabas-prices");
    sum += count * found->second;
  }
  return sum;
}

}  // namespace jabas
