#include "elastic_runner/control_client.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "allocator/error.h"

namespace jabas {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kHeartbeat{1000};
constexpr milliseconds kFlushDeadline{2000};

std::int64_t now_ms() {
  return std::chrono::duration_cast<milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

ControlClient::ControlClient(std::unique_ptr<ControlTransport> transport, Hello hello)
    : transport_(std::move(transport)),
      wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      hello_(std::move(hello)),
      last_heard_ms_(now_ms()),
      lease_ms_(std::int64_t(Welcome{}.lease_s * 1000)) {
  if (wake_fd_ < 0) throw IoError("cannot make an event descriptor", "control client", errno);
}

ControlClient::~ControlClient() {
  stop();
  ::close(wake_fd_);
}

void ControlClient::start(Handler handler) {
  handler_ = std::move(handler);
  thread_ = std::thread([this] { run(); });
}

void ControlClient::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  wake();
  thread_.join();
}

void ControlClient::send(Message message) {
  {
    const std::lock_guard lock(mutex_);
    outbox_.push_back(std::move(message));
  }
  wake();
}

void ControlClient::update_hello(const std::function<void(Hello&)>& change) {
  const std::lock_guard lock(mutex_);
  change(hello_);
}

milliseconds ControlClient::silence() const { return milliseconds(now_ms() - last_heard_ms_); }

bool ControlClient::lease_lost() const { return closed_ || silence().count() > lease_ms_; }

void ControlClient::wake() {
  const std::uint64_t one = 1;
  // A full counter is readable, which is all that is wanted.
  (void)!::write(wake_fd_, &one, sizeof one);
}

void ControlClient::run() {
  auto next_heartbeat = std::chrono::steady_clock::now();
  send_hello();
  while (!stopping_) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= next_heartbeat) {
      transport_->send(encode({0, Heartbeat{}}));
      transport_->peer_silent_for(silence());
      next_heartbeat = now + kHeartbeat;
    }
    transport_->wait(
        wake_fd_, std::chrono::duration_cast<milliseconds>(next_heartbeat - now) + milliseconds(1));
    std::uint64_t count = 0;
    (void)!::read(wake_fd_, &count, sizeof count);
    if (transport_->take_reconnected()) send_hello();
    while (auto text = transport_->receive()) handle(*text);
    drain_outbox();
    if (transport_->closed()) {
      closed_ = true;
      return;
    }
  }
  drain_outbox();
  if (!transport_->flush(kFlushDeadline)) {
    std::fprintf(stderr,
                 "jabas-run: the last messages to the daemon could not be sent within 2 s\n");
  }
}

void ControlClient::send_hello() {
  const std::lock_guard lock(mutex_);
  transport_->send(encode({0, hello_}));
}

void ControlClient::drain_outbox() {
  std::deque<Message> messages;
  {
    const std::lock_guard lock(mutex_);
    messages.swap(outbox_);
  }
  for (auto& message : messages) transport_->send(encode({0, std::move(message)}));
}

bool ControlClient::is_new(const Envelope& envelope) {
  if (const auto* welcome = std::get_if<Welcome>(&envelope.message)) {
    lease_ms_ = std::int64_t(welcome->lease_s * 1000);
    if (welcome->incarnation != incarnation_) seen_.clear();
    incarnation_ = welcome->incarnation;
  }
  return envelope.seq == 0 || seen_.insert(envelope.seq).second;
}

void ControlClient::handle(const std::string& text) {
  last_heard_ms_ = now_ms();
  Envelope envelope;
  try {
    envelope = decode(text);
  } catch (const ProtocolError& error) {
    std::fprintf(stderr, "jabas-run: message from the daemon not understood: %s; it is ignored\n",
                 error.what());
    return;
  }
  if (envelope.seq > 0) transport_->send(encode({0, Ack{envelope.seq}}));
  if (!is_new(envelope)) return;
  if (std::holds_alternative<Heartbeat>(envelope.message) ||
      std::holds_alternative<Ack>(envelope.message))
    return;
  handler_(envelope.message);
}

}  // namespace jabas
