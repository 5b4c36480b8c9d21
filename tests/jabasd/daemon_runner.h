// A daemon in a thread of its own over a fake Slurm, in a private run directory, with short
// timings; and its journal.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "spank_plugin/jabasd/daemon.h"
#include "tests/support/fake_slurm_client.h"
#include "tests/support/temp_dir.h"

namespace jabas {

class DaemonRunner {
 public:
  // Arguments as jabasd gets them ("--jabas-gpus=…"). Prices: v100 and p100 at 1 $/h unless
  // write_prices() says otherwise.
  explicit DaemonRunner(const std::vector<std::string>& arguments);
  ~DaemonRunner();  // stops

  void start();
  // SIGTERM; waits for the end of run().
  void stop();
  // Ends as a daemon that dies: nothing is cancelled or recorded.
  void crash();
  void write_prices(double v100, double p100);
  // From the next start() on; before it the daemon gets one of v100 and p100.
  void without_profile() { config_.options.profile.clear(); }

  FakeSlurmClient& slurm() { return *slurm_; }
  Daemon& daemon() { return *daemon_; }
  const std::string& run_dir() const { return run_dir_; }
  DaemonTimings& timings() { return config_.timings; }
  // Records of one type, as JSON text, in order.
  std::vector<std::string> records(const std::string& type) const;
  int count(const std::string& type) const { return int(records(type).size()); }
  int count_with(const std::string& type, const std::string& part) const;
  std::string last(const std::string& type) const;

 private:
  TempDir dir_;
  std::string run_dir_;
  DaemonConfig config_;
  std::shared_ptr<FakeSlurmClient> slurm_ = std::make_shared<FakeSlurmClient>();
  std::unique_ptr<Daemon> daemon_;
  int stop_fd_ = -1;
  std::thread thread_;
};

}  // namespace jabas
