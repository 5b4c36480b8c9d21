#include "tests/jabasd/daemon_runner.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace jabas {
namespace {

// Two types, a V100 twice as fast as a P100; batches of 32 per virtual worker.
Profile two_types() {
  Profile profile;
  profile.model = "cnn";
  profile.bucket_bytes = {1e6, 1e6};
  profile.intra.bandwidth_bytes_per_s = 1e9;
  profile.intra.points = {{0.001, 0.001}, {0.01, 0.01}};
  profile.inter = profile.intra;
  for (const auto& [type, seconds] :
       std::vector<std::pair<std::string, double>>{{"v100", 0.05}, {"p100", 0.1}}) {
    TypeProfile& entry = profile.types[type];
    entry.tflops = type == "v100" ? 14 : 7;
    entry.gpus_per_node = 2;
    entry.max_streams = {{32, 2}};
    entry.points = {{32, 1, 0, seconds / 3, seconds * 2 / 3, 0.001, 0, 0},
                    {32, 2, 0, seconds * 2 / 3, seconds * 4 / 3, 0.001, 0, 0}};
  }
  return profile;
}

}  // namespace

DaemonRunner::DaemonRunner(const std::vector<std::string>& arguments)
    : run_dir_((dir_ / "run").string()) {
  std::filesystem::create_directory(run_dir_);
  write_prices(1, 1);
  std::ofstream(dir_ / "profile.json") << to_json_text(two_types());
  std::vector<std::string> all = arguments;
  all.push_back("--jabas-prices=" + (dir_ / "prices.json").string());
  all.push_back("--jabas-profile=" + (dir_ / "profile.json").string());
  for (const std::string& argument : all) {
    const std::size_t equals = argument.find('=');
    const std::string error = parse_option(
        argument.substr(2, equals - 2), argument.substr(equals + 1), {}, false, &config_.options);
    if (!error.empty()) throw std::runtime_error(error);
  }
  config_.run_dir = run_dir_;
  config_.cluster = "test";
  config_.user = "user";
  config_.host = "here";
  config_.bind_address = "127.0.0.1";
  config_.lead_job_id = 7;
  config_.timings.squeue_s = 0.1;
  config_.timings.retry_s = 0.1;
  config_.timings.status_s = 0.1;
  config_.timings.leave_s = 1;
  config_.timings.last_words_s = 0.2;
  config_.timings.gone_s = 5;
  config_.timings.worker_silence_s = 2;
  config_.timings.console_silence_s = 5;
}

DaemonRunner::~DaemonRunner() {
  if (daemon_) stop();
}

void DaemonRunner::start() {
  stop_fd_ = eventfd(0, EFD_CLOEXEC);
  daemon_ = std::make_unique<Daemon>(config_, slurm_);
  thread_ = std::thread([this] {
    try {
      daemon_->run(stop_fd_);
    } catch (const FakeCrash&) {
      // As if killed; what is left is what a killed one leaves.
    }
  });
}

void DaemonRunner::stop() {
  const std::uint64_t one = 1;
  if (write(stop_fd_, &one, sizeof one) < 0) throw std::runtime_error("cannot stop the daemon");
  thread_.join();
  close(stop_fd_);
  daemon_.reset();
}

void DaemonRunner::crash() {
  slurm_->crash_next_squeue();
  thread_.join();
  close(stop_fd_);
  daemon_.reset();
}

void DaemonRunner::write_prices(double v100, double p100) {
  const std::filesystem::path path = dir_ / "prices.json", next = dir_ / "prices.next";
  std::ofstream(next) << "{\"v100\":" << v100 << ",\"p100\":" << p100 << "}";
  std::filesystem::rename(next, path);
}

std::vector<std::string> DaemonRunner::records(const std::string& type) const {
  std::vector<std::string> result;
  for (const std::string& record : read_journal(run_dir_ + "/journal.jsonl").records) {
    if (record.find("\"type\":\"" + type + "\"") != std::string::npos) result.push_back(record);
  }
  return result;
}

int DaemonRunner::count_with(const std::string& type, const std::string& part) const {
  int count = 0;
  for (const std::string& record : records(type))
    count += record.find(part) != std::string::npos ? 1 : 0;
  return count;
}

std::string DaemonRunner::last(const std::string& type) const {
  const std::vector<std::string> all = records(type);
  return all.empty() ? "" : all.back();
}

}  // namespace jabas
