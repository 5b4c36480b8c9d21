#include <boost/test/unit_test.hpp>
#include <fstream>

#include "allocator/config_solver.h"
#include "allocator/throughput_model.h"
#include "spank_plugin/jabasd/run_profile.h"
#include "tests/support/temp_dir.h"

using namespace jabas;

namespace {

namespace tt = boost::test_tools;

std::vector<PlanMember> two_workers() { return {{"1.0", "v100", "n1"}, {"2.0", "v100", "n1"}}; }

WorkerTimes times_of(double forward_s, double backward_s, int accum_steps = 0) {
  WorkerTimes times;
  times.generation = 1;
  times.gpu_type = "v100";
  times.local_batch = 32;
  times.streams = 1;
  times.accum_steps = accum_steps;
  times.steps = 100;
  times.median.forward_s = forward_s;
  times.median.backward_s = backward_s;
  return times;
}

Calibration calibration_of(const std::string& type, double slowness) {
  Calibration calibration;
  calibration.gpu_type = type;
  for (const std::int64_t b : {16, 32, 64})
    calibration.points.push_back(
        {b, 1, 0, slowness * double(b), 2 * slowness * double(b), 0.001, 0, 0});
  calibration.buckets = {{1e6, 0}};
  return calibration;
}

// b = 32, V = 1: 0.1 s.
std::string file_of(const TempDir& dir, bool network) {
  Profile profile;
  profile.types["v100"].points = {{32, 1, 0, 0.04, 0.06, 0, 0, 0}};
  if (network) {
    profile.bucket_bytes = {1e6};
    profile.intra = {1e9, {{0.002, 0.010}}};
  }
  const std::string path = (dir / "p.json").string();
  std::ofstream(path) << to_json_text(profile);
  return path;
}

double step_s(const Profile& profile, const std::string& type) {
  return compute_time_s(profile, type, 32, 1, 0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(run_profile_tests)

BOOST_AUTO_TEST_CASE(without_a_profile_times_are_nominal_until_measured) {
  RunProfile profile("");
  std::vector<std::string> notes;
  const Profile nominal = profile.for_types({"v100", "p100", "mystery"}, 32, &notes);
  BOOST_TEST(nominal.types.size() == 2u);
  BOOST_TEST(notes.size() == 3u);
  BOOST_TEST(nominal.types.at("p100").points[0].forward_s >
             nominal.types.at("v100").points[0].forward_s);
  profile.measured("1.0", times_of(2, 4, /*accum_steps=*/1), two_workers());
  BOOST_TEST(!profile.knows("v100"));
  const Profile measured = profile.for_types({"v100", "p100"}, 32, nullptr);
  BOOST_TEST(measured.types.at("v100").points[0].forward_s == 1.0);
  BOOST_TEST(measured.types.at("p100").scaled);
  BOOST_TEST(measured.types.at("p100").points[0].forward_s > 1.0);
}

BOOST_AUTO_TEST_CASE(a_calibration_describes_a_type_even_one_without_tflops) {
  RunProfile profile("");
  BOOST_TEST(profile.calibrated(calibration_of("mystery", 0.001)));
  BOOST_TEST(profile.knows("mystery"));
  BOOST_TEST(!profile.calibrated(calibration_of("mystery", 0.002)));  // known by now
  profile.set_gpus_per_node("mystery", 4);
  const Profile known = profile.for_types({"mystery"}, 32, nullptr);
  BOOST_TEST(step_s(known, "mystery") == 0.096, tt::tolerance(1e-9));
  BOOST_TEST(known.types.at("mystery").gpus_per_node == 4);
  BOOST_TEST(known.bucket_bytes.size() == 1u);
  profile.begin_run();  // perhaps another model
  BOOST_TEST(!profile.knows("mystery"));
}

BOOST_AUTO_TEST_CASE(unusable_points_are_left_out) {
  RunProfile profile("");
  Calibration calibration;
  calibration.gpu_type = "v100";
  calibration.points = {{32, 2, 0, 1, 1, 0, 0, 0},
                        {0, 1, 0, 1, 1, 0, 0, 0},
                        {8, 1, 0, 0, 0, 0, 0, 0},
                        {8, 1, 0, -1, 5, 0, 0, 0}};
  BOOST_TEST(!profile.calibrated(calibration));
  BOOST_TEST(!profile.knows("v100"));
}

// Steps take 1.5 times what the file says: so do its predictions, and the journal gets it once.
BOOST_AUTO_TEST_CASE(a_file_is_corrected_by_measured_steps) {
  const TempDir dir;
  RunProfile profile(file_of(dir, false));
  BOOST_TEST(profile.take_corrections().empty());
  for (int i = 0; i < 5; ++i) profile.measured("1.0", times_of(0.09, 0.21, 1), two_workers());
  std::vector<std::string> notes;
  BOOST_TEST(step_s(profile.for_types({"v100"}, 32, &notes), "v100") == 0.15, tt::tolerance(0.01));
  BOOST_TEST_REQUIRE(notes.size() == 1u);
  BOOST_TEST(notes[0].find("v100: measured times are 1.5 times the profile's") == 0u, notes[0]);
  const auto corrections = profile.take_corrections();
  BOOST_TEST_REQUIRE(corrections.size() == 1u);
  BOOST_TEST(corrections[0].gpu_type == "v100");
  BOOST_TEST(corrections[0].factor == 1.5, tt::tolerance(0.01));
  BOOST_TEST(corrections[0].reports == 5);
  BOOST_TEST(profile.take_corrections().empty());

  RunProfile restarted(file_of(dir, false));
  restarted.restore(corrections[0]);
  BOOST_TEST(step_s(restarted.for_types({"v100"}, 32, nullptr), "v100") == 0.15,
             tt::tolerance(0.01));
  BOOST_TEST(restarted.take_corrections().empty());
}

// A type that is scaled from a corrected one is corrected with it.
BOOST_AUTO_TEST_CASE(scaled_types_follow) {
  const TempDir dir;
  RunProfile profile(file_of(dir, false));
  const double before = step_s(profile.for_types({"v100", "p100"}, 32, nullptr), "p100");
  for (int i = 0; i < 5; ++i) profile.measured("1.0", times_of(0.08, 0.12), two_workers());
  BOOST_TEST(step_s(profile.for_types({"v100", "p100"}, 32, nullptr), "p100") == 2 * before,
             tt::tolerance(0.01));
}

// A calibrated type that has not trained shares the correction of those that have; one of a file
// does not.
BOOST_AUTO_TEST_CASE(calibrated_types_are_corrected_together) {
  RunProfile profile("");
  BOOST_TEST(profile.calibrated(calibration_of("v100", 0.001)));
  BOOST_TEST(profile.calibrated(calibration_of("p100", 0.002)));
  for (int i = 0; i < 5; ++i) profile.measured("1.0", times_of(0.064, 0.128), two_workers());
  std::vector<std::string> notes;
  const Profile known = profile.for_types({"p100", "v100"}, 32, &notes);
  BOOST_TEST(step_s(known, "v100") == 2 * 0.096, tt::tolerance(0.01));
  BOOST_TEST(step_s(known, "p100") == 2 * 0.192, tt::tolerance(0.01));
  BOOST_TEST_REQUIRE(notes.size() == 2u);
  BOOST_TEST(notes[1].find("p100: has not trained yet: corrected as the others") == 0u, notes[1]);

  const TempDir dir;
  RunProfile with_file(file_of(dir, false));
  BOOST_TEST(with_file.calibrated(calibration_of("p100", 0.002)));
  for (int i = 0; i < 5; ++i) with_file.measured("1.0", times_of(0.08, 0.12), two_workers());
  BOOST_TEST(step_s(with_file.for_types({"p100", "v100"}, 32, nullptr), "p100") == 0.192,
             tt::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(all_reduces_are_learnt_or_correct_the_files) {
  const TempDir dir;
  for (const bool in_file : {false, true}) {
    RunProfile profile(file_of(dir, in_file));
    for (int i = 0; i < 5; ++i) {
      for (const char* worker : {"1.0", "2.0"}) {
        WorkerTimes times = times_of(0.04, 0.06);
        times.buckets = {{1e6, worker[0] == '1' ? 0.020 : 0.080}};  // the second waits
        profile.measured(worker, times, two_workers());
      }
    }
    const Profile known = profile.for_types({"v100"}, 32, nullptr);
    const AllReduceTimes times = ThroughputModel(known).find("v100")->all_reduce(2, 1, 32);
    BOOST_TEST(times.hidden_s + times.last_s == 0.020, tt::tolerance(0.02));
    const auto corrections = profile.take_corrections();
    BOOST_TEST(corrections.size() == (in_file ? 1u : 0u));
    if (in_file) BOOST_TEST(corrections[0].gpu_type == "");
  }
}

BOOST_AUTO_TEST_SUITE_END()
