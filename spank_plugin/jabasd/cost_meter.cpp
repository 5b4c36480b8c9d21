#include "spank_plugin/jabasd/cost_meter.h"

#include <algorithm>

namespace jabas {

double CostMeter::cost_of(const Holding& holding, double until_s) const {
  const auto price = prices_.find(holding.gpu_type);
  if (price == prices_.end()) return 0;
  return price->second * holding.gpus * std::max(0.0, until_s - holding.from_s) / 3600;
}

void CostMeter::hold(const std::string& key, const std::string& gpu_type, int gpus, double from_s) {
  types_[gpu_type] = true;
  holdings_.emplace(key, Holding{gpu_type, gpus, from_s});
}

void CostMeter::end(const std::string& key, double at_s) {
  const auto holding = holdings_.find(key);
  if (holding == holdings_.end()) return;
  settled_usd_ += cost_of(holding->second, at_s);
  holdings_.erase(holding);
}

void CostMeter::set_prices(const std::map<std::string, double>& usd_per_gpu_h, double at_s) {
  if (usd_per_gpu_h == prices_) return;
  // The first prices count from the start of what is held already.
  if (!prices_.empty()) {
    for (auto& [key, holding] : holdings_) {
      settled_usd_ += cost_of(holding, at_s);
      holding.from_s = std::max(holding.from_s, at_s);
    }
  }
  prices_ = usd_per_gpu_h;
}

double CostMeter::total_usd(double at_s) const {
  double usd = settled_usd_;
  for (const auto& [key, holding] : holdings_) usd += cost_of(holding, at_s);
  return usd;
}

bool CostMeter::complete() const {
  return std::all_of(types_.begin(), types_.end(),
                     [&](const auto& entry) { return prices_.count(entry.first) > 0; });
}

}  // namespace jabas
