// Control channel under Slurm: a ZeroMQ DEALER with CURVE, pinned to the daemon's key. The only
// owner of zmq here.
//
// The daemon's address comes from <run dir>/endpoint; JABAS_ENDPOINT is the second source (a
// shared file can be stale). After 5 s of silence both are read again and the other one is tried:
// a restarted daemon may have another port.
#pragma once

#include <memory>
#include <string>

#include "elastic_runner/control_transport.h"

namespace jabas {

struct ZmqTransportOptions {
  std::string run_dir;            // keys/{server.pub,client.pub,client.key}, endpoint
  std::string fallback_endpoint;  // "tcp://HOST:PORT" or ""
  std::string routing_id;
};

// Throws InputError naming the key file if it is not a Z85 key; IoError if it cannot be read.
std::unique_ptr<ControlTransport> make_zmq_transport(const ZmqTransportOptions& options);

}  // namespace jabas
