#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstring>
#include <numeric>

#include "elastic_runner/gloo_communicator.h"
#include "tests/elastic_runner/rank_threads.h"

#if defined(__SANITIZE_THREAD__)
// The victim of the kill test starts threads after fork().
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }
#elif defined(__SANITIZE_ADDRESS__)
// Gloo forgets the 64 bytes of getaddrinfo() once per device.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:gloo::transport::tcp::CreateDeviceAttr";
}
#endif

namespace jabas {
namespace {

using namespace std::chrono_literals;
using testing::MemoryBlobs;
using testing::MemoryStore;
using testing::run_ranks;
using testing::run_threads;
namespace data = boost::unit_test::data;

// Boost.Test's checks are not for several threads at once: ranks report with this, run_ranks()
// rethrows it.
void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

std::string comm_error_of(const std::function<void()>& operation) {
  try {
    operation();
  } catch (const CommError& error) {
    return error.what();
  }
  return "";
}

void write_all(int fd, const std::string& text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  std::string message(reinterpret_cast<const char*>(&size), sizeof size);
  message += text;
  if (::write(fd, message.data(), message.size()) != static_cast<ssize_t>(message.size()))
    throw std::runtime_error("pipe: short write");
}

std::string read_all(int fd) {
  std::uint32_t size = 0;
  if (::read(fd, &size, sizeof size) != sizeof size) throw std::runtime_error("pipe: closed");
  std::string text(size, '\0');
  for (std::size_t done = 0; done < size;) {
    const auto got = ::read(fd, text.data() + done, size - done);
    if (got <= 0) throw std::runtime_error("pipe: closed");
    done += static_cast<std::size_t>(got);
  }
  return text;
}

// The victim's end of the rendezvous: its own process, two pipes to the test.
class PipeStore : public RendezvousStore {
 public:
  PipeStore(int out, int in, int world_size) : out_(out), in_(in), world_size_(world_size) {}
  void publish(const std::string& blob) override { write_all(out_, blob); }
  const std::vector<std::string>& wait_all(std::chrono::milliseconds) override {
    while (blobs_.size() < static_cast<std::size_t>(world_size_)) blobs_.push_back(read_all(in_));
    return blobs_;
  }

 private:
  int out_, in_, world_size_;
  std::vector<std::string> blobs_;
};

// Rank `world_size - 1` as a process of its own that joins one all-reduce and then never answers.
[[noreturn]] void be_the_victim(int out, int in, int world_size) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  GlooOptions options;
  options.bind_address =
      "127.0.0.2";  // a device of its own: the parent's thread does not survive fork()
  PipeStore store(out, in, world_size);
  const auto communicator = make_gloo_communicator(store, world_size - 1, world_size, options);
  float one = 1;
  communicator->all_reduce_sum(&one, 1);
  write_all(out, "ready to die");
  for (;;) ::pause();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gloo_communicator_tests)

BOOST_DATA_TEST_CASE(sums_every_count_alike_on_all_ranks, data::xrange(1, 6), world_size) {
  run_ranks(world_size, [&](Communicator& communicator) {
    for (const std::size_t count : {0, 1, 2, 3, 5, 17, 1000, 300001}) {
      std::vector<float> values(count);
      std::vector<double> precise(count);
      for (std::size_t i = 0; i < count; ++i) {
        values[i] =
            static_cast<float>((i % 100) * static_cast<std::size_t>(communicator.rank() + 1));
        precise[i] = values[i] + 0.25;
      }
      communicator.all_reduce_sum(values.data(), count);
      communicator.all_reduce_sum(precise.data(), count);
      const int ranks = communicator.world_size();
      for (std::size_t i = 0; i < count; ++i) {
        const auto expected = static_cast<double>(i % 100) * ranks * (ranks + 1) / 2;
        require(values[i] == static_cast<float>(expected), "float sum");
        require(precise[i] == expected + 0.25 * ranks, "double sum");
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(all_ranks_hold_the_same_bits_of_a_rounded_sum) {
  std::vector<std::vector<float>> results(5, std::vector<float>(10007));
  run_ranks(5, [&](Communicator& communicator) {
    auto& mine = results[static_cast<std::size_t>(communicator.rank())];
    for (std::size_t i = 0; i < mine.size(); ++i)
      mine[i] =
          1.0f / static_cast<float>(i * 7 + static_cast<std::size_t>(communicator.rank()) + 1);
    communicator.all_reduce_sum(mine.data(), mine.size());
  });
  for (const auto& result : results)
    BOOST_TEST(std::memcmp(result.data(), results[0].data(), result.size() * sizeof(float)) == 0);
}

BOOST_DATA_TEST_CASE(minimum_broadcast_gather_barrier, data::xrange(1, 6), world_size) {
  run_ranks(world_size, [&](Communicator& communicator) {
    const int rank = communicator.rank(), ranks = communicator.world_size();
    std::int64_t outcomes[2] = {rank == ranks - 1 ? 0 : 1, 5 + rank};
    communicator.all_reduce_min(outcomes, 2);
    require(outcomes[0] == 0 && outcomes[1] == 5, "minimum");
    for (int root = 0; root < ranks; ++root) {
      std::vector<char> bytes(1001, rank == root ? static_cast<char>('a' + root) : '-');
      communicator.broadcast(bytes.data(), bytes.size(), root);
      require(bytes == std::vector<char>(1001, static_cast<char>('a' + root)), "broadcast");
    }
    const std::int64_t in[3] = {rank, rank * 10, -rank};
    std::vector<std::int64_t> out(static_cast<std::size_t>(3 * ranks), 99);
    communicator.all_gather(in, sizeof in, out.data());
    for (int peer = 0; peer < ranks; ++peer) {
      const auto at = static_cast<std::size_t>(3 * peer);
      require(out[at] == peer && out[at + 1] == peer * 10 && out[at + 2] == -peer, "gather");
    }
    communicator.barrier(5s);
    communicator.broadcast(nullptr, 0, 0);
    communicator.all_gather(nullptr, 0, nullptr);
  });
}

BOOST_AUTO_TEST_CASE(sends_to_each_peer_in_order) {
  run_ranks(4, [&](Communicator& communicator) {
    if (communicator.rank() == 0) {
      for (int message = 0; message < 3; ++message)
        for (int peer = 1; peer < 4; ++peer) {
          const int value = 100 * peer + message;
          communicator.send(peer, &value, sizeof value, 5s);
        }
    } else {
      for (int message = 0; message < 3; ++message) {
        int value = 0;
        communicator.recv(0, &value, sizeof value, 5s);
        require(value == 100 * communicator.rank() + message, "message " + std::to_string(value));
      }
    }
    float rest = 1;
    communicator.all_reduce_sum(&rest, 1);
    require(rest == 4, "a collective after messages");
  });
}

// A rank may drop the communicator as soon as its own last operation returned; slower ranks still
// complete theirs.
BOOST_AUTO_TEST_CASE(a_rank_that_is_done_does_not_break_slower_ones) {
  for (int repeat = 0; repeat < 30; ++repeat)
    run_ranks(5, [&](Communicator& communicator) {
      std::int64_t outcome = 1;
      communicator.all_reduce_min(&outcome, 1);
      require(outcome == 1, "outcome");
    });
}

BOOST_AUTO_TEST_CASE(a_silent_peer_is_a_time_out_and_the_communicator_is_dead_after_it) {
  std::atomic<bool> done{false};
  std::string first, second, received;
  run_ranks(2, [&](Communicator& communicator) {
    if (communicator.rank() == 1) {
      done.wait(false);
      return;
    }
    communicator.set_timeout(200ms);
    float value = 1;
    first = comm_error_of([&] { communicator.all_reduce_sum(&value, 1); });
    second = comm_error_of([&] { communicator.barrier(10s); });
    received = comm_error_of([&] { communicator.recv(1, &value, sizeof value, 10s); });
    done = true;
    done.notify_all();
  });
  BOOST_TEST(first.starts_with("gloo: all-reduce of rank 0 of 2: "), first);
  BOOST_TEST(second.starts_with("gloo: barrier: communicator is dead: "), second);
  BOOST_TEST(received.starts_with("gloo: receive from rank 1: communicator is dead: "), received);
}

BOOST_AUTO_TEST_CASE(destroying_one_frees_a_peer_blocked_in_it) {
  std::string blocked;
  run_ranks(2, [&](Communicator& communicator) {
    if (communicator.rank() == 1) return;
    char byte = 0;
    blocked = comm_error_of([&] { communicator.recv(1, &byte, 1, 60s); });
  });
  BOOST_TEST(blocked.starts_with("gloo: receive from rank 1 of rank 0 of 2: "), blocked);
}

BOOST_AUTO_TEST_CASE(a_missing_peer_fails_the_build_at_its_deadline) {
  MemoryBlobs blobs(3);
  GlooOptions options;
  options.build_deadline = 400ms;
  std::string errors[2];
  run_threads(2, [&](int rank) {
    MemoryStore store(blobs, rank);
    errors[rank] = comm_error_of([&] { make_gloo_communicator(store, rank, 3, options); });
  });
  BOOST_TEST(errors[0] == "rendezvous: 2 of 3 ranks came");
  BOOST_TEST(errors[1] == "rendezvous: 2 of 3 ranks came");
}

BOOST_AUTO_TEST_CASE(a_foreign_blob_is_refused) {
  MemoryBlobs blobs(2);
  blobs.publish(1, "not an address");
  MemoryStore store(blobs, 0);
  const auto error = comm_error_of([&] { make_gloo_communicator(store, 0, 2, {}); });
  BOOST_TEST(error == "rendezvous: blob of rank 1 has 14 bytes instead of 136");
}

BOOST_AUTO_TEST_CASE(an_unusable_address_is_named) {
  MemoryBlobs blobs(2);
  MemoryStore store(blobs, 0);
  GlooOptions options;
  options.bind_address = "203.0.113.7";  // documentation range: never on this host
  const auto error = comm_error_of([&] { make_gloo_communicator(store, 0, 2, options); });
  BOOST_TEST(error.starts_with("gloo: connecting rank 0 of 2 on 203.0.113.7: "), error);
}

BOOST_AUTO_TEST_CASE(a_killed_peer_is_an_error_on_every_survivor_and_the_rest_can_rebuild) {
  constexpr int kRanks = 3;
  int to_victim[2], from_victim[2];
  BOOST_TEST_REQUIRE(::pipe(to_victim) == 0);
  BOOST_TEST_REQUIRE(::pipe(from_victim) == 0);
  const pid_t victim = ::fork();
  BOOST_TEST_REQUIRE(victim >= 0);
  if (victim == 0) be_the_victim(from_victim[1], to_victim[0], kRanks);
  ::close(from_victim[1]);  // so that a victim that dies early is the end of the pipe
  ::close(to_victim[0]);

  MemoryBlobs blobs(kRanks);
  blobs.publish(kRanks - 1, read_all(from_victim[0]));
  std::string errors[kRanks - 1];
  run_threads(kRanks, [&](int thread) {
    if (thread ==
        kRanks -
            1) {  // stands for the victim: hands it the blobs, kills it after the first all-reduce
      for (const auto& blob : blobs.wait_all(20s)) write_all(to_victim[1], blob);
      require(read_all(from_victim[0]) == "ready to die", "victim");
      ::kill(victim, SIGKILL);
      return;
    }
    MemoryStore store(blobs, thread);
    const auto communicator = make_gloo_communicator(store, thread, kRanks, {});
    float value = 1;
    communicator->all_reduce_sum(&value, 1);
    require(value == kRanks, "sum with the victim");
    errors[thread] = comm_error_of([&] { communicator->all_reduce_sum(&value, 1); });
  });
  int status = 0;
  BOOST_TEST(::waitpid(victim, &status, 0) == victim);
  BOOST_TEST(WIFSIGNALED(status));
  for (const auto& error : errors)
    BOOST_TEST(error.starts_with("gloo: all-reduce of rank "), error);
  ::close(to_victim[1]);
  ::close(from_victim[0]);

  run_ranks(kRanks - 1, [](Communicator& communicator) {
    float value = 1;
    communicator.all_reduce_sum(&value, 1);
    require(value == kRanks - 1, "sum after rebuilding");
  });
}

BOOST_AUTO_TEST_CASE(generations_of_changing_size_follow_each_other) {
  for (const int world_size : {4, 2, 5, 1, 3})
    run_ranks(world_size, [&](Communicator& communicator) {
      float value = 1;
      communicator.all_reduce_sum(&value, 1);
      require(value == static_cast<float>(world_size), "sum");
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
