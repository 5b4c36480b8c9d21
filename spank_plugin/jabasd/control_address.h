// Which address of this host the control channel binds: the one the kernel would use toward
// slurmctld. Errors: values; with none found the answer is 127.0.0.1 and says why.
#pragma once

#include <string>

namespace jabas {

struct ControlAddress {
  std::string address;  // IPv4, numeric
  std::string note;     // "" or why it is not what was asked for
};

// `interface`: value of JABAS_INTERFACE, an interface name or a numeric address; "" = ask the
// kernel for the way to `controller` (numeric address or name; "" = unknown).
ControlAddress control_address(const std::string& interface, const std::string& controller);

}  // namespace jabas
