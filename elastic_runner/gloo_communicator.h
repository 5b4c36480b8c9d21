// Communicator over Gloo's TCP transport. The only owner of Gloo's headers is the .cpp.
#pragma once

#include <memory>
#include <string>

#include "elastic_runner/communicator.h"

namespace jabas {

struct GlooOptions {
  std::string bind_address = "127.0.0.1";        // the one address all data ports bind to
  std::chrono::milliseconds timeout{30000};      // of every operation, until set_timeout
  std::chrono::milliseconds build_deadline{20000};
};

// Builds the full mesh of (generation, attempt) of `store`. CommError if it is not up by build_deadline.
// A world of one takes part in the rendezvous with an empty blob and opens no socket.
// One Gloo device (its epoll thread) per bind address is kept for the life of the process and shared.
std::unique_ptr<Communicator> make_gloo_communicator(RendezvousStore& store, int rank, int world_size,
                                                     const GlooOptions& options);

}  // namespace jabas
