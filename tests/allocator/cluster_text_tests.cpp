#include <boost/test/unit_test.hpp>

#include "allocator/cluster_text.h"
#include "tests/allocator/profile_fixtures.h"

namespace jabas {
namespace {

std::string problem_of(const std::string& text) {
  std::vector<ClusterEntry> cluster;
  return parse_cluster(text, fixtures::two_speeds(), &cluster);
}

RankedGpus ranks_of(const std::string& text, int unit) {
  const Profile profile = fixtures::two_speeds();  // two GPUs in a node
  std::vector<ClusterEntry> cluster;
  BOOST_TEST_REQUIRE(parse_cluster(text, profile, &cluster) == "");
  RankedGpus gpus;
  BOOST_TEST_REQUIRE(rank_cluster(cluster, profile, unit, &gpus) == "");
  return gpus;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cluster_text_tests)

BOOST_AUTO_TEST_CASE(both_separators_and_repeated_types) {
  const RankedGpus gpus = ranks_of("v100:1,p100:3+v100:2", 1);
  BOOST_TEST(
      gpus.types == (std::vector<std::string>{"v100", "p100", "p100", "p100", "v100", "v100"}),
      boost::test_tools::per_element());
  BOOST_TEST(gpus.nodes == 1 + 2 + 1);
  BOOST_TEST(gpus.unit == 1);
}

BOOST_AUTO_TEST_CASE(a_unit_is_one_entry_of_the_ranks) {
  const RankedGpus gpus = ranks_of("v100:2,p100:4", 2);
  BOOST_TEST(gpus.types == (std::vector<std::string>{"v100", "p100", "p100"}),
             boost::test_tools::per_element());
  BOOST_TEST(gpus.nodes == 1 + 2);
  RankedGpus odd;
  BOOST_TEST(rank_cluster({{"v100", 3}}, fixtures::two_speeds(), 2, &odd) ==
             "3 GPUs of v100 are not whole units of 2 GPUs");
}

BOOST_AUTO_TEST_CASE(problems_name_value_and_form) {
  for (const char* text : {"", "v100", "v100:", ":2", "v100:0", "v100:-1", "v100:2x", "v100:1,",
                           "v100:100001", "v100:1,v100:100000", "v100:99999999999999999999"})
    BOOST_TEST(problem_of(text).find(
                   "is not TYPE:GPUS with 1..100000 GPUs in all, such as node0:4,node1:4") !=
                   std::string::npos,
               text);
  BOOST_TEST(problem_of("t4:1") == "the profile has no GPU type 't4'; it has p100, v100");
}

BOOST_AUTO_TEST_CASE(equal_shares_are_counted_together) {
  const RankedGpus gpus{{"v100", "p100", "v100", "p100"}, 2, 2};
  const Configuration configuration{8, 38, {{3, 1}, {2, 0}, {3, 1}, {5, 0}}, 1};
  BOOST_TEST(to_text(counted_shares(gpus, configuration)) ==
             "4×v100 V=3 a=1 + 2×p100 V=2 a=0 + 2×p100 V=5 a=0");
  BOOST_TEST(to_text(std::vector<ShareCount>{}) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
