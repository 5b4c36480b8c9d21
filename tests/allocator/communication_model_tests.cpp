#include <boost/test/unit_test.hpp>

#include "allocator/communication_model.h"
#include "tests/allocator/profile_fixtures.h"

namespace jabas {
namespace {

constexpr double kExact = 1e-12;

}  // namespace

BOOST_AUTO_TEST_SUITE(communication_model_tests)

BOOST_AUTO_TEST_CASE(a_line_through_points) {
  const Line line = fit_line({{1, 3}, {2, 5}, {3, 7}});
  BOOST_TEST(line.slope == 2, boost::test_tools::tolerance(kExact));
  BOOST_TEST(line.offset == 1, boost::test_tools::tolerance(kExact));
  BOOST_TEST(fit_line({{2, 8}}).slope == 4);
  BOOST_TEST(fit_line({{0, 8}}).offset == 8);
}

BOOST_AUTO_TEST_CASE(all_reduce_by_hand) {
  Profile profile;
  profile.bucket_bytes = {1e6, 3e6, 2e6};
  profile.intra = {1e9, {{0.001, 0.004}, {0.002, 0.006}}};  // measured = 2·ideal + 2 ms
  profile.inter = {1e8, {}};                                // nothing measured: the ideal
  const CommunicationModel model(profile, {}, false);
  // ideal = 4·(n−1)/n·bytes/bandwidth; n = 2: 2·bytes/bandwidth = 2, 6, 4 ms.
  const AllReduceTimes two = model.all_reduce(2, 1, 32);
  BOOST_TEST(two.hidden_s == (2 * 0.002 + 0.002) + (2 * 0.006 + 0.002),
             boost::test_tools::tolerance(kExact));
  BOOST_TEST(two.last_s == 2 * 0.004 + 0.002, boost::test_tools::tolerance(kExact));
  const AllReduceTimes across = model.all_reduce(4, 2, 32);  // 3·bytes/bandwidth
  BOOST_TEST(across.hidden_s == 0.12, boost::test_tools::tolerance(kExact));
  BOOST_TEST(across.last_s == 0.06, boost::test_tools::tolerance(kExact));
}

BOOST_AUTO_TEST_CASE(one_gpu_alone_pays_no_all_reduce) {
  const AllReduceTimes alone =
      CommunicationModel(fixtures::resnet50(), {}, false).all_reduce(1, 1, 32);
  BOOST_TEST(alone.hidden_s == 0);
  BOOST_TEST(alone.last_s == 0);
  // By the reference's rules it pays the intercepts.
  BOOST_TEST(CommunicationModel(fixtures::resnet50(), {}, true).all_reduce(1, 1, 32).last_s > 0);
}

BOOST_AUTO_TEST_CASE(a_profile_of_one_network_serves_for_both) {
  Profile profile;
  profile.bucket_bytes = {1e6};
  profile.intra = {1e9, {}};
  const CommunicationModel model(profile, {}, false);
  BOOST_TEST(model.all_reduce(2, 2, 32).last_s == model.all_reduce(2, 1, 32).last_s);
  BOOST_TEST(model.all_reduce(2, 1, 32).last_s == 0.002, boost::test_tools::tolerance(kExact));
}

BOOST_AUTO_TEST_CASE(a_type_may_have_a_network_of_its_own) {
  Profile profile;
  profile.bucket_bytes = {1e6};
  profile.intra = {1e9, {{0.001, 0.004}, {0.002, 0.006}}};
  TypeProfile type;
  type.intra = {5e8, {}};  // half as fast, the same measured points of ideal times
  const CommunicationModel model(profile, type, false);
  BOOST_TEST(model.all_reduce(2, 1, 32).last_s == 2 * 0.004 + 0.002,
             boost::test_tools::tolerance(kExact));
}

// base + per doubling · log2(n/2) + third node; straight lines between local batches.
BOOST_AUTO_TEST_CASE(measured_exposed_times_take_the_place_of_buckets) {
  Profile profile;
  profile.bucket_bytes = {1e6};
  profile.intra = {1e9, {}};
  TypeProfile type;
  type.sync_intra = {{10, 0.01, 0.002, 0}, {20, 0.03, 0.004, 0}};
  type.sync_inter = {{10, 0.1, 0.02, 0.5}};
  const CommunicationModel model(profile, type, false);
  BOOST_TEST(model.all_reduce(1, 1, 10).last_s == 0);
  BOOST_TEST(model.all_reduce(2, 1, 10).last_s == 0.01, boost::test_tools::tolerance(kExact));
  BOOST_TEST(model.all_reduce(8, 1, 15).last_s == 0.02 + 2 * 0.003,
             boost::test_tools::tolerance(kExact));
  BOOST_TEST(model.all_reduce(8, 1, 99).last_s == 0.03 + 2 * 0.004,
             boost::test_tools::tolerance(kExact));
  BOOST_TEST(model.all_reduce(8, 2, 15).last_s == 0.1 + 2 * 0.02,
             boost::test_tools::tolerance(kExact));
  BOOST_TEST(model.all_reduce(8, 3, 15).last_s == 0.64, boost::test_tools::tolerance(kExact));
  BOOST_TEST(model.all_reduce(8, 3, 15).hidden_s == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
