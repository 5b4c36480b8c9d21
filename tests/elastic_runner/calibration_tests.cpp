#include <boost/test/unit_test.hpp>
#include <stdexcept>

#include "elastic_runner/calibration.h"
#include "elastic_runner/process_memory.h"
#include "tests/elastic_runner/fake_engine.h"

using namespace jabas;

namespace {

TrainingSpec adaptive(std::int64_t batch_max) {
  TrainingSpec spec;
  spec.adaptive = true;
  spec.local_batch = 32;
  spec.batch_min = 64;
  spec.batch_max = batch_max;
  spec.train_samples = 60000;
  return spec;
}

// A GPU on which V streams take 1 + (V−1)·(1−gain) times as long as one; its clock is what was
// measured.
struct FakeDevice {
  double gain = 0.5, s_per_sample = 0.001, now_s = 0;
  int most_streams = 64, measured = 0;
  CalibrationTools tools() {
    CalibrationTools result;
    result.measure = [this](std::int64_t local_batch, int streams) {
      const double s = s_per_sample * double(local_batch) * (1 + (streams - 1) * (1 - gain));
      now_s += 4 * s;
      ++measured;
      return StepTimes{0, s / 3, s * 2 / 3, 0, streams == 1 ? 0.002 : 0, s};
    };
    result.fits = [this](std::int64_t, int streams) { return streams <= most_streams; };
    result.now_s = [this] { return now_s; };
    return result;
  }
};

std::string text(const std::vector<ComputePoint>& points) {
  std::string result;
  for (const ComputePoint& point : points) {
    result += (result.empty() ? "" : " ") + std::to_string(point.local_batch) + "x" +
              std::to_string(point.streams);
  }
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(calibration_tests)

BOOST_AUTO_TEST_CASE(the_grid_doubles_and_halves_within_the_batch) {
  using Batches = std::vector<std::int64_t>;
  const auto batches = [](const TrainingSpec& spec, bool norm) {
    return calibration_grid(spec, norm).batches;
  };
  BOOST_TEST(batches(adaptive(4096), false) == (Batches{32, 64, 16, 128, 8, 256}),
             boost::test_tools::per_element());
  BOOST_TEST(batches(adaptive(128), false) == (Batches{32, 64, 16, 8}),
             boost::test_tools::per_element());
  TrainingSpec small = adaptive(4096);
  small.local_batch = 4;
  BOOST_TEST(batches(small, true) == (Batches{4, 8, 2, 16, 32}), boost::test_tools::per_element());
  TrainingSpec fixed = adaptive(4096);
  fixed.local_batch_fixed = true;
  BOOST_TEST(batches(fixed, false) == Batches{32}, boost::test_tools::per_element());
  fixed = adaptive(4096);
  fixed.adaptive = false;
  BOOST_TEST(batches(fixed, false) == Batches{32}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(streams_grow_while_they_pay_and_fit) {
  CalibrationGrid grid;
  grid.batches = {32, 16};
  grid.budget_s = 1e6;
  FakeDevice device;
  BOOST_TEST(text(measure_points(grid, device.tools())) ==
             "16x1 16x2 16x3 16x4 32x1 32x2 32x3 32x4");
  device.most_streams = 2;
  BOOST_TEST(text(measure_points(grid, device.tools())) == "16x1 16x2 32x1 32x2");
  device = {};
  device.gain = 0;  // one more was tried, and is known to bring nothing
  const auto points = measure_points(grid, device.tools());
  BOOST_TEST(text(points) == "16x1 16x2 32x1 32x2");
  BOOST_TEST(points[1].update_s == 0.002);  // the same whatever V
  grid.all_streams = true;
  BOOST_TEST(measure_points(grid, device.tools()).size() == 8U);
}

BOOST_AUTO_TEST_CASE(the_budget_is_kept_but_the_first_point_is_always_there) {
  CalibrationGrid grid;
  grid.batches = {32, 64, 16, 128};
  FakeDevice slow;
  slow.s_per_sample = 1;
  BOOST_TEST(text(measure_points(grid, slow.tools())) == "32x1");
  FakeDevice middling;
  middling.s_per_sample = 0.02;  // 2.6 s for a point of 32
  const auto points = measure_points(grid, middling.tools());
  BOOST_TEST(middling.now_s <= grid.budget_s * 1.01);
  BOOST_TEST(points.size() >= 2U);
}

BOOST_AUTO_TEST_CASE(a_point_that_fails_is_left_out_but_not_the_first) {
  CalibrationGrid grid;
  grid.batches = {32, 64};
  FakeDevice device;
  CalibrationTools tools = device.tools();
  const auto measure = tools.measure;
  std::int64_t bad = 64;
  tools.measure = [&](std::int64_t local_batch, int streams) {
    if (local_batch == bad) throw std::runtime_error("out of memory");
    return measure(local_batch, streams);
  };
  BOOST_TEST(text(measure_points(grid, tools)) == "32x1 32x2 32x3 32x4");
  bad = 32;
  BOOST_CHECK_THROW(measure_points(grid, tools), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(an_emulated_device_answers_with_its_profile) {
  Profile profile;
  profile.source = "p.json";
  TypeProfile& type = profile.types["v100"];
  type.points = {{16, 1, 0.01, 0.02, 0.04, 0.001, 0, 0},
                 {64, 1, 0.02, 0.06, 0.12, 0.001, 0, 0},
                 {64, 2, 0.04, 0.10, 0.20, 0.001, 0, 0}};
  type.max_streams = {{16, 1}, {64, 2}};
  const Emulation emulation(profile, 2.0, "v100");
  testing::FakeEngine engine(60000, {});
  const Calibration calibration = calibrate(adaptive(4096), engine, &emulation, "v100");
  BOOST_TEST(engine.measured == 0);
  BOOST_TEST(text(calibration.points) == "8x1 16x1 32x1 32x2 64x1 64x2");
  BOOST_TEST(calibration.points[1].backward_s == 0.08);
  BOOST_TEST(calibration.points[5].forward_s == 0.2);
  BOOST_TEST(calibration.buckets.size() == 1U);
  const Calibration real = calibrate(adaptive(4096), engine, nullptr, "v100");
  BOOST_TEST(engine.measured > 0);
  BOOST_TEST(real.points.size() == std::size_t(engine.measured));
}

BOOST_AUTO_TEST_CASE(memory_is_known) {
  BOOST_TEST(resident_bytes() > 1e6);
  BOOST_TEST(peak_resident_bytes() >= resident_bytes() * 0.9);
  BOOST_TEST(available_bytes() > 1e6);
}

BOOST_AUTO_TEST_SUITE_END()
