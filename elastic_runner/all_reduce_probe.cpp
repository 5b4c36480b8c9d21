#include "elastic_runner/all_reduce_probe.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <future>
#include <set>

#include "allocator/error.h"
#include "elastic_runner/file_rendezvous.h"
#include "elastic_runner/median.h"

namespace jabas {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWarmUps = 2;
constexpr std::chrono::milliseconds kOperation{60000};
constexpr std::chrono::minutes kOtherTasks{10};  // to load the model and the data

// A private folder, removed with what is in it.
class PrivateFolder {
 public:
  PrivateFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "jabas-profile-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw IoError("cannot make a temporary folder", name, errno);
    path_ = name;
  }
  ~PrivateFolder() {
    std::error_code ignored;  // a leftover in the temporary folder harms nobody
    std::filesystem::remove_all(path_, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

std::vector<double> probe_sizes(const std::vector<double>& bucket_bytes) {
  JABAS_ASSERT(!bucket_bytes.empty(), "a model has a bucket");
  std::set<double> sizes(bucket_bytes.begin(), bucket_bytes.end());
  const double largest = *sizes.rbegin();
  sizes.insert({largest / 4, largest * 4});
  return {sizes.begin(), sizes.end()};
}

std::vector<double> time_all_reduces(Communicator& communicator, const std::vector<double>& sizes,
                                     int repeats) {
  communicator.set_timeout(kOperation);
  std::vector<double> medians;
  for (const double bytes : sizes) {
    std::vector<float> values(std::max<std::size_t>(1, std::size_t(bytes / sizeof(float))), 0.0F);
    std::vector<double> seconds;
    for (int i = -kWarmUps; i < repeats; ++i) {
      const auto begin = Clock::now();
      communicator.all_reduce_sum(values.data(), values.size());
      if (i >= 0) seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    }
    medians.push_back(median(std::move(seconds)));
  }
  return medians;
}

CommunicationProfile network_of(const std::vector<double>& sizes,
                                const std::vector<double>& seconds, int gpus) {
  const double factor = 4.0 * (gpus - 1) / gpus;
  CommunicationProfile network;
  network.bandwidth_bytes_per_s = factor * sizes.back() / std::max(seconds.back(), 1e-9);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    network.points.emplace_back(factor * sizes[i] / network.bandwidth_bytes_per_s, seconds[i]);
  return network;
}

CommunicationProfile measure_inside_node(const RunnerBackends& backends,
                                         const std::vector<double>& sizes, int repeats) {
  const PrivateFolder folder;
  const auto rank = [&](int number) {
    FileRendezvous store(folder.path(), number, 2);
    const auto communicator = backends.make_communicator(store, number, 2, "127.0.0.1");
    return time_all_reduces(*communicator, sizes, repeats);
  };
  auto other = std::async(std::launch::async, rank, 1);
  const std::vector<double> seconds = rank(0);
  other.get();
  return network_of(sizes, seconds, 2);
}

CommunicationProfile measure_across_nodes(const RunnerBackends& backends, const TaskPlace& place,
                                          const std::string& directory,
                                          const std::vector<double>& sizes, int repeats) {
  const std::string all_here = directory + "/here", addresses = directory + "/addresses";
  for (const std::string& folder : {all_here, addresses}) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw IoError("cannot make a folder for all tasks", folder, error.value());
  }
  FileRendezvous here(all_here, place.rank, place.tasks);
  here.publish("here");
  here.wait_all(kOtherTasks);
  FileRendezvous store(addresses, place.rank, place.tasks);
  const auto communicator =
      backends.make_communicator(store, place.rank, place.tasks, place.address);
  const std::vector<double> seconds = time_all_reduces(*communicator, sizes, repeats);
  if (place.rank == 0) {
    std::error_code ignored;  // a leftover is small and hidden
    std::filesystem::remove_all(directory, ignored);
  }
  return network_of(sizes, seconds, place.tasks);
}

}  // namespace jabas
