#include <boost/test/unit_test.hpp>

#include "allocator/communication_model.h"
#include "allocator/measured_network.h"

using namespace jabas;

namespace {

namespace tt = boost::test_tools;

double predicted_s(const MeasuredNetwork& network, int gpus, int nodes) {
  Profile profile;
  profile.types["v100"].points = {{32, 1, 0, 1, 1, 0, 0, 0}};
  network.describe(&profile);
  // As the workers get it.
  profile = profile_from_json(to_json_text(profile), "copy");
  const AllReduceTimes times =
      CommunicationModel(profile, profile.types["v100"], false).all_reduce(gpus, nodes, 32);
  return times.hidden_s + times.last_s;
}

// Both ranks of a generation; the second one waits for the first.
bool two_ranks(MeasuredNetwork* network, int generation, double first_s, double second_s,
               int nodes) {
  network->report(generation, "1.0", {{1e6, first_s}, {5e5, second_s}}, 2, nodes);
  return network->report(generation, "2.0", {{1e6, first_s * 5}, {5e5, second_s}}, 2, nodes);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(measured_network_tests)

BOOST_AUTO_TEST_CASE(nothing_measured_costs_nothing) {
  MeasuredNetwork network;
  BOOST_TEST(predicted_s(network, 2, 1) == 0.0);
  network.set_buckets({{1e6, 0}});
  BOOST_TEST(predicted_s(network, 2, 1) == 0.0);
}

BOOST_AUTO_TEST_CASE(what_was_measured_is_predicted) {
  MeasuredNetwork network;
  BOOST_TEST(two_ranks(&network, 1, 0.010, 0.005, 1));
  BOOST_TEST(total_s(network.shortest()) == 0.015, tt::tolerance(1e-9));
  BOOST_TEST(predicted_s(network, 2, 1) == 0.015, tt::tolerance(1e-9));
  BOOST_TEST(predicted_s(network, 2, 2) == 0.015, tt::tolerance(1e-9));  // the only one known
  BOOST_TEST(two_ranks(&network, 2, 0.040, 0.020, 2));
  BOOST_TEST(predicted_s(network, 2, 2) == 0.060, tt::tolerance(1e-9));
  BOOST_TEST(predicted_s(network, 2, 1) == 0.015, tt::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(only_a_whole_generation_counts) {
  MeasuredNetwork network;
  BOOST_TEST(!network.report(3, "1.0", {{1e6, 0.01}}, 2, 1));
  BOOST_TEST(!network.report(4, "1.0", {{1e6, 0.01}}, 2, 1));  // the other one never came
  BOOST_TEST(!network.report(3, "2.0", {{1e6, 0.01}}, 2, 1));  // late
  BOOST_TEST(network.report(4, "2.0", {{1e6, 0.02}}, 2, 1));
  BOOST_TEST(!network.report(5, "1.0", {{1e6, 0.01}}, 1, 1));  // alone
}

BOOST_AUTO_TEST_CASE(noise_does_not_make_large_ones_cheaper) {
  MeasuredNetwork network;
  BOOST_TEST(two_ranks(&network, 1, 0.001, 0.009, 1));  // the larger bucket took less
  BOOST_TEST(predicted_s(network, 2, 1) == 0.010, tt::tolerance(1e-9));
  BOOST_TEST(predicted_s(network, 8, 1) == 0.010, tt::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(implausible_reports_are_left_out) {
  MeasuredNetwork network;
  for (const auto& buckets : std::vector<std::vector<BucketTime>>{
           {}, {{0, 0.1}}, {{1e6, -1}}, {{1e6, 1e9}}, {{1e99, 0.1}}}) {
    network.report(1, "1.0", buckets, 2, 1);
    BOOST_TEST(!network.report(1, "2.0", buckets, 2, 1));
  }
  network.report(2, "1.0", {{1e6, 0.1}}, 2, 1);
  BOOST_TEST(!network.report(2, "2.0", {{2e6, 0.1}}, 2, 1));  // other buckets
}

BOOST_AUTO_TEST_SUITE_END()
