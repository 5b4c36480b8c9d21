// What the daemon leaves in a run's directory for its console and workers: endpoint and keys.
// Environment names.
#pragma once

#include <chrono>
#include <string>

namespace jabas {

// The variable's value; "" if unset.
std::string environment(const char* name);

// First line of <run dir>/endpoint, "tcp://HOST:PORT"; "" if it is not there yet.
std::string read_endpoint(const std::string& run_dir);
// Waits until the file is there. InputError when `deadline` passes.
std::string wait_for_endpoint(const std::string& run_dir, std::chrono::seconds deadline);
// A Z85 key of 40 characters. InputError or IoError naming the file.
std::string read_key(const std::string& run_dir, const std::string& name);

// The address that data ports bind to: JABAS_INTERFACE (an address, or the name of an interface),
// else the one the kernel picks toward the host of `endpoint`. InputError naming the value.
std::string data_address(const std::string& endpoint);

std::string host_name();
std::string boot_id();

}  // namespace jabas
