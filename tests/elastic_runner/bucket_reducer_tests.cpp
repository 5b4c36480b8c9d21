#include <boost/test/unit_test.hpp>
#include <future>
#include <stdexcept>
#include <thread>

#include "elastic_runner/bucket_reducer.h"

namespace jabas {
namespace {

using namespace std::chrono_literals;

void nothing() {}

}  // namespace

BOOST_AUTO_TEST_SUITE(bucket_reducer_tests)

BOOST_AUTO_TEST_CASE(reduces_in_index_order_whatever_the_order_of_arrival) {
  BucketReducer reducer(3, nothing);
  for (int step = 0; step < 50; ++step) {
    std::vector<int> order;
    reducer.begin(2, [&](int bucket) { order.push_back(bucket); });
    std::thread other([&] {
      for (const int bucket : {1, 2, 0}) reducer.arrive(bucket);
    });
    for (const int bucket : {2, 0, 1}) reducer.arrive(bucket);
    other.join();
    reducer.finish();
    BOOST_TEST(order == (std::vector<int>{0, 1, 2}));
  }
}

BOOST_AUTO_TEST_CASE(a_bucket_is_reduced_before_later_ones_are_ready) {
  BucketReducer reducer(2, nothing);
  std::promise<void> first;
  reducer.begin(1, [&](int bucket) {
    if (bucket == 0) first.set_value();
  });
  reducer.arrive(0);
  BOOST_TEST((first.get_future().wait_for(20s) == std::future_status::ready));
  reducer.arrive(1);
  reducer.finish();
}

BOOST_AUTO_TEST_CASE(without_overlap_no_bucket_is_reduced_before_all_are_ready) {
  BucketReducer reducer(3, nothing);
  std::atomic<int> arrived{0};
  std::vector<int> seen;
  reducer.begin(
      1, [&](int) { seen.push_back(arrived); }, /*overlap=*/false);
  for (const int bucket : {0, 2, 1}) {
    ++arrived;
    reducer.arrive(bucket);
  }
  reducer.finish();
  BOOST_TEST(seen == (std::vector<int>{3, 3, 3}));
}

BOOST_AUTO_TEST_CASE(waits_for_every_replica) {
  BucketReducer reducer(1, nothing);
  std::atomic<int> arrived{0};
  int seen = -1;
  reducer.begin(3, [&](int) { seen = arrived; });
  for (int replica = 0; replica < 3; ++replica) {
    ++arrived;
    reducer.arrive(0);
  }
  reducer.finish();
  BOOST_TEST(seen == 3);
}

BOOST_AUTO_TEST_CASE(without_replicas_everything_is_ready_at_once) {
  BucketReducer reducer(4, nothing);
  int reduced = 0;
  reducer.begin(0, [&](int) { ++reduced; });
  reducer.finish();
  BOOST_TEST(reduced == 4);
}

BOOST_AUTO_TEST_CASE(a_failure_is_rethrown_once_and_the_next_step_works) {
  BucketReducer reducer(2, nothing);
  reducer.begin(1, [&](int) { throw std::runtime_error("peer lost"); });
  reducer.arrive(0);
  reducer.arrive(1);
  BOOST_CHECK_THROW(reducer.finish(), std::runtime_error);
  int reduced = 0;
  reducer.begin(1, [&](int) { ++reduced; });
  reducer.arrive(1);
  reducer.arrive(0);
  reducer.finish();
  BOOST_TEST(reduced == 2);
}

BOOST_AUTO_TEST_CASE(abandoning_ends_the_step) {
  BucketReducer reducer(2, nothing);
  int reduced = 0;
  reducer.begin(2, [&](int) { ++reduced; });
  reducer.arrive(0);
  reducer.abandon();
  reducer.finish();
  BOOST_TEST(reduced == 0);
}

BOOST_AUTO_TEST_CASE(what_the_thread_throws_at_its_start_reaches_the_constructor) {
  BOOST_CHECK_THROW(BucketReducer(1, [] { throw std::runtime_error("no"); }), std::runtime_error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
