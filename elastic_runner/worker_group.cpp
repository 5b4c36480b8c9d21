#include "elastic_runner/worker_group.h"

#include <sys/wait.h>

#include <csignal>
#include <sstream>

#include "elastic_runner/process.h"
#include "elastic_runner/run_directory.h"

namespace jabas {
namespace {

std::vector<std::string> visible_devices() {
  std::vector<std::string> devices;
  std::istringstream list(environment("CUDA_VISIBLE_DEVICES"));
  for (std::string device; std::getline(list, device, ',');) devices.push_back(device);
  return devices;
}

}  // namespace

WorkerGroup::WorkerGroup(const std::string& executable, int count) {
  const auto devices = visible_devices();
  for (int rank = 0; rank < count; ++rank) {
    ChildOptions child;
    child.arguments = {executable, "worker", "--local-rank", std::to_string(rank)};
    child.environment = {"OMP_NUM_THREADS=1"};
    if (count > 1 && std::ssize(devices) >= count) {
      child.environment.push_back("CUDA_VISIBLE_DEVICES=" + devices[std::size_t(rank)]);
    }
    running_.emplace(start_child(child), rank);
  }
}

WorkerGroup::~WorkerGroup() {
  signal(SIGKILL);
  for (const auto& [pid, rank] : running_) {
    int status = 0;
    ::waitpid(pid, &status, 0);
  }
}

void WorkerGroup::signal(int number) {
  for (const auto& [pid, rank] : running_) ::kill(pid, number);
}

std::vector<EndedWorker> WorkerGroup::reap() {
  std::vector<EndedWorker> ended;
  for (auto entry = running_.begin(); entry != running_.end();) {
    int status = 0;
    if (::waitpid(entry->first, &status, WNOHANG) == entry->first) {
      ended.push_back({entry->second, status});
      entry = running_.erase(entry);
    } else {
      ++entry;
    }
  }
  return ended;
}

}  // namespace jabas
