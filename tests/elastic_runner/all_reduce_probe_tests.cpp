#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <future>

#include "elastic_runner/all_reduce_probe.h"
#include "elastic_runner/file_rendezvous.h"
#include "tests/elastic_runner/memory_communicator.h"
#include "tests/support/complaint.h"
#include "tests/support/temp_dir.h"

using namespace jabas;

namespace {

namespace tt = boost::test_tools;

RunnerBackends in_memory() {
  RunnerBackends backends;
  backends.make_communicator = [network = std::make_shared<testing::MemoryNetwork>()](
                                   RendezvousStore& store, int rank, int size, const std::string&) {
    return network->connect(store, rank, size);
  };
  return backends;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(all_reduce_probe_tests)

BOOST_AUTO_TEST_CASE(sizes_are_those_of_the_buckets_and_around) {
  BOOST_TEST(probe_sizes({100, 400, 400}) == (std::vector<double>{100, 400, 1600}),
             tt::per_element());
}

BOOST_AUTO_TEST_CASE(ideal_times_follow_the_profiles_definition) {
  const CommunicationProfile network = network_of({1e6, 4e6}, {0.004, 0.010}, 4);
  BOOST_TEST(network.bandwidth_bytes_per_s == 3 * 4e6 / 0.010, tt::tolerance(1e-9));
  BOOST_TEST(network.points[1].first == 0.010, tt::tolerance(1e-9));
  BOOST_TEST(network.points[0].first == 0.0025, tt::tolerance(1e-9));
  BOOST_TEST(network.points[0].second == 0.004);
}

BOOST_AUTO_TEST_CASE(two_ranks_inside_a_node) {
  const CommunicationProfile network = measure_inside_node(in_memory(), {1e4, 1e5}, 3);
  BOOST_TEST(network.bandwidth_bytes_per_s > 0);
  BOOST_TEST(network.points.size() == 2U);
}

BOOST_AUTO_TEST_CASE(tasks_meet_in_a_folder_and_leave_nothing_behind) {
  const TempDir dir;
  const std::string place = (dir / "meeting").string();
  const RunnerBackends backends = in_memory();
  const auto task = [&](int rank) {
    return measure_across_nodes(backends, {rank, 3, 3, "127.0.0.1"}, place, {1e4}, 3);
  };
  auto one = std::async(std::launch::async, task, 1), two = std::async(std::launch::async, task, 2);
  BOOST_TEST(task(0).points.size() == 1U);
  one.get();
  two.get();
  BOOST_TEST(!std::filesystem::exists(place));
}

BOOST_AUTO_TEST_CASE(who_does_not_come_is_named) {
  const TempDir dir;
  FileRendezvous store(dir.path(), 0, 2);
  store.publish(std::string("raw\0bytes", 9));
  BOOST_TEST(complaint_of([&] { store.wait_all(std::chrono::milliseconds(50)); }) ==
             "rank 1 of 2 did not come: no " + dir.path() + "/rank-1 after 50 ms");
  FileRendezvous other(dir.path(), 1, 2);
  other.publish("b");
  BOOST_TEST(other.wait_all(std::chrono::milliseconds(50)) ==
                 (std::vector<std::string>{std::string("raw\0bytes", 9), "b"}),
             tt::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
