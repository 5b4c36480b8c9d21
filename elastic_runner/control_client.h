// A worker's or console's side of the control channel: hello, heartbeats, acknowledgements, the
// lease on the daemon.
//
// One thread owns the transport, sends a heartbeat every second (so a long step does not look like
// a dead worker), sends `hello` again on every reconnection, acknowledges numbered messages and
// drops those it has seen (by incarnation and seq). Other messages go to the handler ON THAT
// THREAD: it must not block.
// Ownership: owns transport and thread.
// Threads: send, update_hello, silence, lease_lost from any thread.
// Errors: text that is not a message is reported on stderr and dropped.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "allocator/control_messages.h"
#include "elastic_runner/control_port.h"
#include "elastic_runner/control_transport.h"

namespace jabas {

class ControlClient : public ControlPort {
 public:
  using Handler = std::function<void(const Message&)>;
  ControlClient(std::unique_ptr<ControlTransport> transport, Hello hello);
  ~ControlClient() override;
  ControlClient(const ControlClient&) = delete;
  ControlClient& operator=(const ControlClient&) = delete;

  // Sends `hello` at once; called once.
  void start(Handler handler);
  // Hands over what is queued (deadline 2 s); the handler is not called any more. What is sent
  // later is dropped.
  void stop();
  void send(Message message) override;
  void update_hello(const std::function<void(Hello&)>& change) override;
  std::chrono::milliseconds silence() const;  // since anything was heard from the daemon
  bool lease_lost() const override;
  bool closed() const { return closed_; }

 private:
  void run();
  void send_hello();
  void drain_outbox();
  void handle(const std::string& text);
  bool is_new(const Envelope& envelope);
  void wake();

  std::unique_ptr<ControlTransport> transport_;
  Handler handler_;
  int wake_fd_ = -1;
  std::mutex mutex_;  // guards outbox_ and hello_
  std::deque<Message> outbox_;
  Hello hello_;
  std::string incarnation_;
  std::set<std::uint64_t> seen_;
  std::atomic<std::int64_t> last_heard_ms_;
  std::atomic<std::int64_t> lease_ms_;
  std::atomic<bool> closed_ = false, stopping_ = false;
  std::thread thread_;
};

}  // namespace jabas
