#include "elastic_runner/local_workers.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "allocator/error.h"
#include "elastic_runner/process.h"

namespace jabas {
namespace {
constexpr std::chrono::milliseconds kHeartbeat{1000};
}

LocalWorkers::LocalWorkers(std::string executable) : executable_(std::move(executable)) {}

LocalWorkers::~LocalWorkers() {
  kill_all();
  for (auto& [id, worker] : workers_) {
    int status = 0;
    ::waitpid(worker.pid, &status, 0);
  }
}

std::string LocalWorkers::start() {
  const int number = next_number_++;
  const std::string id = "local." + std::to_string(number);
  const auto [ours, theirs] = make_socket_pair();
  LocalWorker worker;
  worker.transport = std::make_unique<SocketTransport>(ours);
  ChildOptions child;
  child.arguments = {executable_,    "worker",
                     "--local-rank", std::to_string(number),
                     "--control-fd", std::to_string(theirs)};
  child.environment = {"OMP_NUM_THREADS=1"};
  child.inherited_fd = theirs;
  worker.pid = start_child(child);
  ::close(theirs);
  workers_.emplace(id, std::move(worker));
  return id;
}

void LocalWorkers::send(const std::string& worker_id, const Message& message) {
  const auto worker = workers_.find(worker_id);
  if (worker == workers_.end()) return;  // it has ended meanwhile; its end is an event of its own
  worker->second.transport->send(encode({++worker->second.last_seq, message}));
}

void LocalWorkers::send_all(const Message& message) {
  for (const auto& [id, worker] : workers_) send(id, message);
}

std::vector<WorkerEvent> LocalWorkers::wait(int wake_fd, std::chrono::milliseconds timeout) {
  std::vector<pollfd> fds{{wake_fd, POLLIN, 0}};
  for (const auto& [id, worker] : workers_) {
    if (!worker.transport->closed()) fds.push_back({worker.transport->fd(), POLLIN, 0});
  }
  ::poll(fds.data(), fds.size(), int(timeout.count()));
  const auto now = std::chrono::steady_clock::now();
  const bool beat = now >= next_heartbeat_;
  if (beat) next_heartbeat_ = now + kHeartbeat;
  std::vector<WorkerEvent> events;
  for (auto& [id, worker] : workers_) {
    if (beat) worker.transport->send(encode({0, Heartbeat{}}));
    collect_messages(id, worker, events);
  }
  collect_ends(events);
  return events;
}

void LocalWorkers::collect_messages(const std::string& id, LocalWorker& worker,
                                    std::vector<WorkerEvent>& events) {
  while (auto text = worker.transport->receive()) {
    try {
      events.push_back({id, WorkerEvent::Kind::kMessage, decode(*text).message, 0});
    } catch (const ProtocolError& error) {
      std::fprintf(stderr, "jabas-run: message from %s not understood: %s; it is ignored\n",
                   id.c_str(), error.what());
    }
  }
}

void LocalWorkers::collect_ends(std::vector<WorkerEvent>& events) {
  for (auto worker = workers_.begin(); worker != workers_.end();) {
    int status = 0;
    if (::waitpid(worker->second.pid, &status, WNOHANG) != worker->second.pid) {
      ++worker;
      continue;
    }
    collect_messages(worker->first, worker->second, events);
    events.push_back({worker->first, WorkerEvent::Kind::kEnded, Heartbeat{}, status});
    worker = workers_.erase(worker);
  }
}

void LocalWorkers::kill_all() {
  for (const auto& [id, worker] : workers_) ::kill(worker.pid, SIGKILL);
}

}  // namespace jabas
