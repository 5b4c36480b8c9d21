// The profile, its file format and the scaling of types that were not measured.
#include <boost/test/unit_test.hpp>

#include "allocator/error.h"
#include "allocator/profile.h"
#include "tests/allocator/profile_fixtures.h"

namespace jabas {
namespace {

constexpr char kSmall[] =
    R"({"jabas_profile": 1, "model": "cnn", "types": {"v100": {"tflops": 14.13,
  "max_streams": {"32": 2}, "points": [{"local_batch": 32, "forward_s": 0.01, "backward_s": 0.02}]}}})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  BOOST_REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

// What profile_from_json complains about after one change of the small profile.
std::string complaint(const std::string& from, const std::string& to) {
  try {
    profile_from_json(replaced(kSmall, from, to), "p.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(profile_tests)

BOOST_AUTO_TEST_CASE(reads_a_small_profile) {
  const Profile profile = profile_from_json(kSmall, "p.json");
  BOOST_TEST(profile.model == "cnn");
  BOOST_TEST(profile.source == "p.json");
  const TypeProfile& type = profile.types.at("v100");
  BOOST_TEST(type.max_streams.at(32) == 2);
  BOOST_TEST(type.points.size() == 1u);
  BOOST_TEST(type.points[0].streams == 1);
  BOOST_TEST(type.points[0].backward_s == 0.02);
  BOOST_TEST(type.points[0].data_s == 0);
}

BOOST_AUTO_TEST_CASE(the_file_of_a_real_network_reads_back_the_same) {
  const Profile profile = fixtures::resnet50();
  BOOST_TEST(profile.types.at("v100").points.size() == 6u);
  BOOST_TEST(profile.types.at("p100").max_streams.at(32) == 4);
  BOOST_TEST(profile.bucket_bytes.size() == 5u);
  const std::string text = to_json_text(profile);
  BOOST_TEST(to_json_text(profile_from_json(text, "again")) == text);
}

BOOST_AUTO_TEST_CASE(points_are_sorted) {
  const Profile profile =
      profile_from_json(replaced(kSmall, R"({"local_batch": 32,)",
                                 R"({"local_batch": 64, "forward_s": 1, "backward_s": 1},
        {"local_batch": 32, "streams": 2, "forward_s": 1, "backward_s": 1}, {"local_batch": 32,)"),
                        "p");
  const auto& points = profile.types.at("v100").points;
  BOOST_TEST(points[0].local_batch == 32);
  BOOST_TEST(points[1].streams == 2);
  BOOST_TEST(points[2].local_batch == 64);
}

BOOST_AUTO_TEST_CASE(each_kind_of_bad_content_is_named) {
  BOOST_TEST(complaint("\"jabas_profile\": 1", "\"jabas_profile\": 2") ==
             "p.json: jabas_profile: 2 is not a version this program reads (it reads 1)");
  BOOST_TEST(complaint("0.01", "-0.01") ==
             "p.json: types.v100.points[0].forward_s: -0.01 is not accepted: must be a number of "
             "at least 0.0 and at most 1000000.0");
  BOOST_TEST(complaint("0.01", "\"fast\"") ==
             "p.json: types.v100.points[0].forward_s: \"fast\" is not a number");
  BOOST_TEST(complaint("\"forward_s\": 0.01,", "") ==
             "p.json: types.v100.points[0].forward_s: is missing");
  BOOST_TEST(complaint("\"forward_s\"", "\"foward_s\": 1, \"forward_s\"") ==
             "p.json: types.v100.points[0].foward_s: is not a known key");
  BOOST_TEST(complaint("0.01, \"backward_s\": 0.02", "0, \"backward_s\": 0") ==
             "p.json: types.v100.points[0].backward_s: forward_s + backward_s is not above 0");
  BOOST_TEST(complaint("\"32\": 2", "\"32\": 0") ==
             "p.json: types.v100.max_streams.32: 0 is below the 1 streams measured there");
  BOOST_TEST(complaint("\"32\": 2", "\"b32\": 2") ==
             "p.json: types.v100.max_streams.b32: is not a local batch");
  BOOST_TEST(complaint("\"local_batch\": 32,", "\"local_batch\": 32, \"streams\": 2,") ==
             "p.json: types.v100.points: local batch 32 has no point with 1 stream, which every "
             "other one is compared with");
  BOOST_TEST(complaint("[{\"local",
                       "[{\"local_batch\": 32, \"forward_s\": 1, \"backward_s\": 1}, {\"local") ==
             "p.json: types.v100.points: local batch 32 with 1 streams is there twice");
  BOOST_TEST(complaint("\"types\": {\"v100\"", "\"kinds\": {\"v100\"") ==
             "p.json: types: is missing");
}

BOOST_AUTO_TEST_CASE(a_missing_file_is_named) {
  BOOST_CHECK_EXCEPTION(load_profile("/nowhere/p.json"), IoError, [](const IoError& error) {
    return std::string(error.what()) ==
           "cannot open the profile: /nowhere/p.json: No such file or directory";
  });
}

BOOST_AUTO_TEST_CASE(known_names_of_gpus_in_all_spellings) {
  BOOST_TEST(builtin_tflops("v100") == 14.13);
  BOOST_TEST(builtin_tflops("V100") == 14.13);
  BOOST_TEST(builtin_tflops("tesla_v100-pcie-16gb") == 14.13);
  BOOST_TEST(builtin_tflops("nvidia_a100-sxm4-80gb") == 19.49);
  BOOST_TEST(builtin_tflops("rtx_2080_ti") == 13.45);
  BOOST_TEST(builtin_tflops("geforce_rtx_2080_ti") == 13.45);
  BOOST_TEST(builtin_tflops("nvidia_geforce_rtx_3090") == 35.58);
  BOOST_TEST(builtin_tflops("p100") == 9.52);
  for (const char* type : {"k80", "p4", "p40", "t4", "rtx2080ti", "rtx6000", "a10", "a30", "a40",
                           "l4", "l40", "h100", "h200"})
    BOOST_TEST(builtin_tflops(type) > 0, type);
  BOOST_TEST(builtin_tflops("") == 0);
  BOOST_TEST(builtin_tflops("p1000x") == 0);
  BOOST_TEST(builtin_tflops("fpga") == 0);
}

BOOST_AUTO_TEST_CASE(an_unmeasured_type_is_scaled_from_the_nearest_measured_one) {
  Profile known;
  known.types["v100"] = fixtures::proportional_type(1);
  known.types["t4"] = fixtures::proportional_type(3);
  std::vector<std::string> notes;
  const Profile complete = complete_profile(known, {"v100", "p100", "fpga"}, &notes);
  const TypeProfile& p100 =
      complete.types.at("p100");  // 9.52 TFLOP/s is nearer to the T4's 8.14 than to 14.13
  BOOST_TEST(p100.scaled);
  BOOST_TEST(p100.tflops == 9.52);
  const ComputePoint& from = complete.types.at("t4").points[0];
  BOOST_TEST(p100.points[0].forward_s == from.forward_s * 8.14 / 9.52,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(p100.points[0].data_s == from.data_s);
  BOOST_TEST(!complete.types.contains("fpga"));
  BOOST_REQUIRE(notes.size() == 2u);
  BOOST_TEST(notes[0] == "p100: not in the profile: times of t4 scaled by TFLOP/s (8.14 to 9.52)");
  BOOST_TEST(
      notes[1] ==
      "fpga: neither in the profile nor in the table of TFLOP/s: used only up to its minimum");
}

BOOST_AUTO_TEST_CASE(a_scaled_type_is_no_base_for_scaling) {
  Profile known;
  known.types["v100"] = fixtures::proportional_type(1);
  known.types["v100"].scaled = true;
  std::vector<std::string> notes;
  BOOST_TEST(!complete_profile(known, {"p100"}, &notes).types.contains("p100"));
  BOOST_TEST(notes.at(0) == "p100: no measured type to scale from: used only up to its minimum");
  BOOST_TEST(complete_profile({}, {"p100"}, nullptr).types.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
