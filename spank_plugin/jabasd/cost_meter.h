// What a run has cost: every GPU's price × the time it is held, with prices that change. Pure.
// Units: UNIX seconds, price per GPU-hour.   A type without price counts 0 and is reported by
// complete().
#pragma once

#include <map>
#include <string>

namespace jabas {

class CostMeter {
 public:
  // `from_s` may lie in the past (Slurm's start time), also before the last price change: then the
  // present price counts.
  void hold(const std::string& key, const std::string& gpu_type, int gpus, double from_s);
  void end(const std::string& key, double at_s);
  void set_prices(const std::map<std::string, double>& usd_per_gpu_h, double at_s);
  double total_usd(double at_s) const;
  bool complete() const;  // every type ever held has a price

 private:
  struct Holding {
    std::string gpu_type;
    int gpus;
    double from_s;
  };
  double cost_of(const Holding& holding, double until_s) const;
  std::map<std::string, double> prices_;
  std::map<std::string, Holding> holdings_;
  std::map<std::string, bool> types_;
  double settled_usd_ = 0;
};

}  // namespace jabas
