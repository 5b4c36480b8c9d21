// What the parts of a worker need of the control channel; implemented by ControlClient, faked in
// tests.
// Threads: any.
#pragma once

#include <functional>

#include "allocator/control_messages.h"

namespace jabas {

class ControlPort {
 public:
  virtual ~ControlPort() = default;
  virtual void send(Message message) = 0;
  // Changes what the next `hello` says.
  virtual void update_hello(const std::function<void(Hello&)>& change) = 0;
  // The daemon has been silent for longer than its lease, or the channel is closed for good.
  virtual bool lease_lost() const = 0;
};

}  // namespace jabas
