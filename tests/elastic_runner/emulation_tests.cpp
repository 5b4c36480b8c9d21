#include <boost/test/unit_test.hpp>

#include "allocator/error.h"
#include "elastic_runner/emulation.h"

using namespace jabas;

namespace {

Profile one_point(double factor = 1) {
  Profile profile;
  profile.source = "p.json";
  TypeProfile& type = profile.types["v100"];
  type.max_streams = {{32, 1}};
  type.points = {{32, 1, 0.01 * factor, 0.02 * factor, 0.04 * factor, 0.001, 0, 0}};
  profile.types["p100"] = type;
  return profile;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(emulation_tests)

// D + (D+F+K)·a + F + K, times the scale; a short step its part.
BOOST_AUTO_TEST_CASE(time_is_that_of_the_profile) {
  const Emulation emulation(one_point(), 2.0, "v100");
  BOOST_TEST(emulation.compute_s(32, {1, 0}, 1) == 2 * 0.07, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(emulation.compute_s(32, {1, 2}, 1) == 2 * (0.07 + 2 * 0.07),
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(emulation.compute_s(32, {1, 0}, 0.5) == 0.07, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(what_it_measures_of_itself_is_what_it_takes) {
  const Emulation emulation(one_point(), 2.0, "v100");
  const StepTimes times = emulation.measured(32, {1, 2});
  BOOST_TEST(
      times.data_s + times.forward_s + times.backward_s == emulation.compute_s(32, {1, 2}, 1),
      boost::test_tools::tolerance(1e-9));
  BOOST_TEST(times.update_s == 0.002);
  BOOST_TEST(emulation.fits(32, 1));
  BOOST_TEST(!emulation.fits(32, 2));
  BOOST_TEST(!emulation.fits(33, 1));
}

BOOST_AUTO_TEST_CASE(the_slowest_network_of_the_set_counts) {
  Profile profile = one_point();
  profile.bucket_bytes = {1e6, 1e6};
  profile.intra = {1e9, {}};
  profile.types["p100"].intra = {1e8, {}};
  const Emulation emulation(profile, 1, "v100");
  const std::vector<PlanMember> same{{"1.0", "v100", "n1"}, {"2.0", "", "n1"}},
      mixed{{"1.0", "v100", "n1"}, {"2.0", "p100", "n1"}};
  BOOST_TEST(emulation.all_reduce(same, 32).last_s == 0.002, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(emulation.all_reduce(mixed, 32).hidden_s == 0.02, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(emulation.all_reduce({same[0]}, 32).last_s == 0.0);
}

BOOST_AUTO_TEST_CASE(an_unknown_type_is_an_error_with_the_known_ones) {
  BOOST_CHECK_EXCEPTION(Emulation(one_point(), 1, "a100"), InputError, [](const InputError& error) {
    return std::string(error.what()) == "p.json: no GPU type 'a100' to emulate; it has p100, v100";
  });
}

BOOST_AUTO_TEST_CASE(the_type_is_the_planned_one_then_our_own_then_the_first) {
  BOOST_TEST(emulated_type(one_point(), "v100", "p100") == "v100");
  BOOST_TEST(emulated_type(one_point(), "", "v100") == "v100");
  BOOST_TEST(emulated_type(one_point(), "", "") == "p100");
}

BOOST_AUTO_TEST_SUITE_END()
