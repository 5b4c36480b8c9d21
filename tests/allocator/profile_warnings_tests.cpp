// What is said of measured times that fall while the local batch grows.
#include <boost/test/unit_test.hpp>

#include "allocator/throughput_model.h"
#include "tests/allocator/profile_fixtures.h"

namespace jabas {

BOOST_AUTO_TEST_SUITE(profile_warnings_tests)

BOOST_AUTO_TEST_CASE(monotone_profiles_are_not_warned_of) {
  BOOST_TEST(profile_warnings(fixtures::two_speeds()).empty());
  BOOST_TEST(profile_warnings({}).empty());
}

BOOST_AUTO_TEST_CASE(a_fall_is_named_with_its_place_and_the_envelope_is_used) {
  Profile profile;
  profile.source = "p.json";
  TypeProfile& type = profile.types["t4"];
  type.points = {{8, 1, 0, 0.5, 1, 0, 0, 0},    {8, 2, 0, 2, 3, 0, 0, 0},
                 {16, 1, 0, 0.25, 2, 0, 0, 0},  {16, 2, 0, 2, 4, 0, 0, 0},
                 {32, 1, 0, 0.375, 3, 0, 0, 0}, {32, 2, 0, 2, 3.5, 0, 0, 0}};
  const std::vector<std::string> warnings = profile_warnings(profile);
  BOOST_TEST_REQUIRE(warnings.size() == 3u);
  BOOST_TEST(warnings[0] ==
             "p.json: types.t4: forward_s is not monotone in the local batch: with 1 streams it is "
             "0.5 at 8 but 0.25 at 16: taken as 0.5 there");
  BOOST_TEST(warnings[1] ==
             "p.json: types.t4: forward_s is not monotone in the local batch: with 1 streams it is "
             "0.5 at 8 but 0.375 at 32: taken as 0.5 there");
  BOOST_TEST(
      warnings[2] ==
      "p.json: types.t4: backward_s is not monotone in the local batch: with 2 streams it is "
      "4 at 16 but 3.5 at 32: taken as 4 there");
  const TypeModel model(type);
  BOOST_TEST(model.pass(16, 1).forward_s == 0.5);
  BOOST_TEST(model.pass(32, 1).forward_s == 0.5);
  BOOST_TEST(model.pass(32, 2).backward_s == 4);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
