// The worker processes of `train --local`: starting, messages to and from them, heartbeats, their
// ends.
// Ownership: owns processes and descriptors; the destructor kills and reaps what is left.
// Threads: one.
// Errors: IoError if a process or a socket pair cannot be made.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "allocator/control_messages.h"
#include "elastic_runner/socket_transport.h"

namespace jabas {

struct LocalWorker {
  pid_t pid = 0;
  std::unique_ptr<SocketTransport> transport;
  std::uint64_t last_seq = 0;
  bool ready = false;
};

struct WorkerEvent {
  std::string worker_id;
  enum class Kind { kMessage, kEnded } kind = Kind::kMessage;
  Message message;      // with kMessage
  int wait_status = 0;  // with kEnded; all its messages came before
};

class LocalWorkers {
 public:
  explicit LocalWorkers(std::string executable);
  ~LocalWorkers();
  LocalWorkers(const LocalWorkers&) = delete;
  LocalWorkers& operator=(const LocalWorkers&) = delete;

  std::string start();  // the new worker's id
  void send(const std::string& worker_id, const Message& message);
  void send_all(const Message& message);
  // Waits for events, `wake_fd`, or the time to pass; sends heartbeats about once a second.
  std::vector<WorkerEvent> wait(int wake_fd, std::chrono::milliseconds timeout);
  void kill_all();

  std::map<std::string, LocalWorker>& all() { return workers_; }
  const std::map<std::string, LocalWorker>& all() const { return workers_; }

 private:
  void collect_messages(const std::string& id, LocalWorker& worker,
                        std::vector<WorkerEvent>& events);
  void collect_ends(std::vector<WorkerEvent>& events);
  const std::string executable_;
  std::map<std::string, LocalWorker> workers_;
  int next_number_ = 0;
  std::chrono::steady_clock::time_point next_heartbeat_{};
};

}  // namespace jabas
