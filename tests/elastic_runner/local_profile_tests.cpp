#include <boost/test/unit_test.hpp>
#include <fstream>

#include "allocator/profile.h"
#include "elastic_runner/local_profile.h"
#include "tests/support/complaint.h"
#include "tests/support/temp_dir.h"

using namespace jabas;

namespace {

std::string profile_of(const TempDir& dir, const std::vector<std::string>& types) {
  Profile profile;
  for (const std::string& type : types) {
    ComputePoint point;
    point.local_batch = 32;
    point.forward_s = point.backward_s = 0.1;
    profile.types[type].points = {point};
  }
  const std::string path = (dir / "p.json").string();
  std::ofstream(path) << to_json_text(profile);
  return path;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(local_profile_tests)

BOOST_AUTO_TEST_CASE(none) {
  const LocalProfile profile = read_local_profile("", "v100");
  BOOST_TEST(profile.json.empty());
  BOOST_TEST(profile.gpu_type.empty());
}

BOOST_AUTO_TEST_CASE(its_only_type_or_the_one_named) {
  const TempDir dir;
  const std::string one = profile_of(dir, {"cpu"});
  BOOST_TEST(read_local_profile(one, "").gpu_type == "cpu");
  BOOST_TEST(profile_from_json(read_local_profile(one, "").json, "copy").types.count("cpu") == 1U);
  const std::string two = profile_of(dir, {"p100", "v100"});
  BOOST_TEST(read_local_profile(two, "v100").gpu_type == "v100");
}

BOOST_AUTO_TEST_CASE(errors_name_what_is_accepted) {
  const TempDir dir;
  const std::string two = profile_of(dir, {"p100", "v100"});
  BOOST_TEST(complaint_of([&] { read_local_profile(two, ""); }) ==
             "--profile=" + two +
                 ": has 2 GPU types (p100, v100); JABAS_GPU_TYPE must name that of this machine");
  BOOST_TEST(complaint_of([&] { read_local_profile(two, "a100"); }) ==
             "JABAS_GPU_TYPE=a100: not in " + two + "; accepted are p100, v100");
  const std::string none = (dir / "none").string();
  BOOST_TEST(complaint_of([&] { read_local_profile(none, ""); }).find(none) != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
