#include "elastic_runner/gloo_communicator.h"

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/context.h>
#include <gloo/math.h>
#include <gloo/transport/context.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>

namespace jabas {
namespace {

using std::chrono::milliseconds;

// Gloo takes 0 for "no time-out" and a negative one for "the context's".
milliseconds at_least_one(milliseconds timeout) { return std::max(timeout, milliseconds(1)); }

// "[/build/gloo/pair.cc:598] Connection closed" -> "Connection closed"
std::string without_source_line(const std::string& text) {
  const auto end = text.find("] ");
  return text.starts_with("[") && end != std::string::npos ? text.substr(end + 2) : text;
}

// One device, that is one epoll thread, per bind address for the life of the process: building a
// context on a kept device takes a third of the time.
std::shared_ptr<gloo::transport::Device> device_for(const std::string& address) {
  static std::mutex mutex;  // guards `devices`
  static std::map<std::string, std::shared_ptr<gloo::transport::Device>> devices;
  const std::lock_guard lock(mutex);
  auto& device = devices[address];
  if (!device)
    device = gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr(address.c_str()));
  return device;
}

// A gloo context that connects through our rendezvous. gloo::rendezvous::Context wants a key-value
// store with more keys than addresses (host names) and ignores deadlines while it waits for them.
class MeshContext : public gloo::Context {
 public:
  using gloo::Context::Context;

  // A pair takes its connection time-out when it is created, before anything is exchanged: the
  // deadline is divided between waiting for the others to come and connecting to them.
  void connect(RendezvousStore& store, const std::shared_ptr<gloo::transport::Device>& device,
               milliseconds deadline) {
    const auto connect_timeout = at_least_one(deadline / 4);
    auto transport = device->createContext(rank, size);
    transport->setTimeout(connect_timeout);
    std::string mine;  // one address per peer, in rank order
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      auto& pair = transport->createPair(peer);
      pair->setLocalRank(0);  // the base class leaves it uninitialised; TCP does not use it
      const auto bytes = pair->address().bytes();
      mine.append(bytes.begin(), bytes.end());
    }
    store.publish(mine);
    const auto& blobs = store.wait_all(deadline - connect_timeout);
    for (int peer = 0; peer < size; ++peer)
      if (peer != rank) transport->getPair(peer)->connect(address_for_us(blobs, peer, mine.size()));
    device_ = device;
    transportContext_ = std::move(transport);
  }

 private:
  // The address at which `peer` listens for this rank.
  std::vector<char> address_for_us(const std::vector<std::string>& blobs, int peer,
                                   std::size_t blob_bytes) const {
    if (blobs.size() != static_cast<std::size_t>(size))
      throw CommError("rendezvous: " + std::to_string(blobs.size()) + " blobs for " +
                      std::to_string(size) + " ranks");
    const auto& blob = blobs[static_cast<std::size_t>(peer)];
    if (blob.size() != blob_bytes)
      throw CommError("rendezvous: blob of rank " + std::to_string(peer) + " has " +
                      std::to_string(blob.size()) + " bytes instead of " +
                      std::to_string(blob_bytes));
    const auto bytes = blob_bytes / static_cast<std::size_t>(size - 1);
    const auto at =
        blob.begin() + static_cast<std::ptrdiff_t>(bytes) * (rank < peer ? rank : rank - 1);
    return {at, at + static_cast<std::ptrdiff_t>(bytes)};
  }
};

class GlooCommunicator : public Communicator {
 public:
  GlooCommunicator(std::shared_ptr<gloo::Context> context, milliseconds timeout)
      : context_(std::move(context)), timeout_(at_least_one(timeout)) {}

  int rank() const override { return context_->rank; }
  int world_size() const override { return context_->size; }
  void set_timeout(milliseconds timeout) override { timeout_ = at_least_one(timeout); }

  void all_reduce_sum(float* data, std::size_t count) override {
    all_reduce(data, count, static_cast<Reduce>(&gloo::sum<float>));
  }
  void all_reduce_sum(double* data, std::size_t count) override {
    all_reduce(data, count, static_cast<Reduce>(&gloo::sum<double>));
  }
  void all_reduce_min(std::int64_t* data, std::size_t count) override {
    all_reduce(data, count, static_cast<Reduce>(&gloo::min<std::int64_t>));
  }

  void broadcast(void* data, std::size_t bytes, int root) override {
    if (bytes == 0) return;
    guarded("broadcast", [&] {
      gloo::BroadcastOptions options(context_);
      options.setOutput(static_cast<char*>(data), bytes);
      options.setRoot(root);
      options.setTag(tag_++);
      options.setTimeout(timeout_);
      gloo::broadcast(options);
    });
  }

  void all_gather(const void* in, std::size_t bytes, void* out) override {
    if (bytes == 0) return;
    guarded("all-gather", [&] {
      gloo::AllgatherOptions options(context_);
      // Gloo only reads from its input, but takes it without const.
      options.setInput(static_cast<char*>(const_cast<void*>(in)), bytes);
      options.setOutput(static_cast<char*>(out), bytes * static_cast<std::size_t>(context_->size));
      options.setTag(tag_++);
      options.setTimeout(timeout_);
      gloo::allgather(options);
    });
  }

  void barrier(milliseconds deadline) override {
    guarded("barrier", [&] {
      gloo::BarrierOptions options(context_);
      options.setTag(tag_++);
      options.setTimeout(at_least_one(deadline));
      gloo::barrier(options);
    });
  }

  void send(int to, const void* data, std::size_t bytes, milliseconds deadline) override {
    if (bytes == 0) return;
    guarded("send to rank " + std::to_string(to), [&] {
      auto buffer = context_->createUnboundBuffer(const_cast<void*>(data), bytes);
      buffer->send(to, kPointToPointSlot);
      buffer->waitSend(at_least_one(deadline));
    });
  }

  void recv(int from, void* data, std::size_t bytes, milliseconds deadline) override {
    if (bytes == 0) return;
    guarded("receive from rank " + std::to_string(from), [&] {
      auto buffer = context_->createUnboundBuffer(data, bytes);
      buffer->recv(from, kPointToPointSlot);
      buffer->waitRecv(at_least_one(deadline));
    });
  }

 private:
  using Reduce = void (*)(void*, const void*, const void*, std::size_t);
  // Collectives use prefixes 1..8 in the top byte of the slot.
  static constexpr std::uint64_t kPointToPointSlot = 0;

  template <typename T>
  void all_reduce(T* data, std::size_t count, Reduce reduce) {
    if (count == 0) return;
    guarded("all-reduce", [&] {
      gloo::AllreduceOptions options(context_);
      options.setOutput(data, count);
      options.setReduceFunction(reduce);
      options.setTag(tag_++);
      options.setTimeout(timeout_);
      // Every element is summed at one rank and then handed round: all ranks get the same bits.
      options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
      gloo::allreduce(options);
    });
  }

  // After one failure peers may be in different operations: nothing more may run on this context.
  template <typename Operation>
  void guarded(const std::string& what, const Operation& operation) {
    if (!failure_.empty()) throw CommError("gloo: " + what + ": communicator is dead: " + failure_);
    try {
      operation();
    } catch (const std::exception& error) {
      failure_ = without_source_line(error.what());
      throw CommError("gloo: " + what + " of rank " + std::to_string(context_->rank) + " of " +
                      std::to_string(context_->size) + ": " + failure_);
    }
  }

  std::shared_ptr<gloo::Context> context_;
  milliseconds timeout_;
  std::uint32_t tag_ = 0;
  std::string failure_;
};

// A world of one: nothing to exchange.
class SoloCommunicator : public Communicator {
 public:
  int rank() const override { return 0; }
  int world_size() const override { return 1; }
  void set_timeout(milliseconds) override {}
  void all_reduce_sum(float*, std::size_t) override {}
  void all_reduce_sum(double*, std::size_t) override {}
  void all_reduce_min(std::int64_t*, std::size_t) override {}
  void broadcast(void*, std::size_t, int) override {}
  void all_gather(const void* in, std::size_t bytes, void* out) override {
    if (bytes > 0) std::memmove(out, in, bytes);
  }
  void barrier(milliseconds) override {}
  void send(int to, const void*, std::size_t, milliseconds) override { no_peer(to); }
  void recv(int from, void*, std::size_t, milliseconds) override { no_peer(from); }

 private:
  [[noreturn]] static void no_peer(int rank) {
    throw CommError("rank " + std::to_string(rank) + " does not exist in a world of one");
  }
};

}  // namespace

std::unique_ptr<Communicator> make_gloo_communicator(RendezvousStore& store, int rank,
                                                     int world_size, const GlooOptions& options) {
  JABAS_ASSERT(world_size >= 1 && rank >= 0 && rank < world_size,
               "rank " + std::to_string(rank) + " of " + std::to_string(world_size));
  if (world_size == 1) {
    store.publish("");
    store.wait_all(options.build_deadline);
    return std::make_unique<SoloCommunicator>();
  }
  try {
    auto context = std::make_shared<MeshContext>(rank, world_size);
    context->connect(store, device_for(options.bind_address), options.build_deadline);
    return std::make_unique<GlooCommunicator>(std::move(context), options.timeout);
  } catch (const CommError&) {
    throw;
  } catch (const std::exception& error) {
    throw CommError("gloo: connecting rank " + std::to_string(rank) + " of " +
                    std::to_string(world_size) + " on " + options.bind_address + ": " +
                    without_source_line(error.what()));
  }
}

}  // namespace jabas
