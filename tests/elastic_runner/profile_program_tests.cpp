// `jabas-run profile` as a user starts it, and what the allocator makes of its file.
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "allocator/config_solver.h"
#include "tests/elastic_runner/program_run.h"
#include "tests/support/temp_dir.h"

using namespace jabas;
using namespace jabas::testing;

namespace {

struct Ended {
  int code;
  std::string out, err;
};

Ended ended(const TempDir& dir, const std::string& line) {
  ProgramRun run(dir.path(), line);
  const int code = run.wait();
  return {code, run.out(), run.err()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(profile_program_tests)

BOOST_AUTO_TEST_CASE(a_profile_that_the_solver_reads) {
  const TempDir dir;
  const std::string path = (dir / "p.json").string();
  const Ended run =
      ended(dir,
            "profile --model gpt --layers 1 --width 16 --heads 2 --sequence-length 16 --subset 64 "
            "--gpu-type v100 --batches 4,8 --max-streams 2 --steps 3 -o " +
                path);
  BOOST_TEST_REQUIRE(run.code == 0, run.err);
  BOOST_TEST(run.err.find("local batch 8, 2 streams: ") != std::string::npos, run.err);
  BOOST_TEST(run.err.find("all-reduce across nodes: not measured") != std::string::npos, run.err);

  const Profile profile = load_profile(path);
  BOOST_TEST(profile.model == "gpt");
  const TypeProfile& type = profile.types.at("v100");
  BOOST_TEST(type.points.size() == 4U);
  for (const ComputePoint& point : type.points) {
    BOOST_TEST(point.forward_s > 0);
    BOOST_TEST(point.backward_s > 0);
    BOOST_TEST(point.update_s > 0);
  }
  BOOST_TEST(type.max_streams.at(8) == 2);
  BOOST_TEST(!profile.bucket_bytes.empty());
  BOOST_TEST(profile.intra.bandwidth_bytes_per_s > 0);
  BOOST_TEST(profile.intra.points.size() >= 2U);

  RankedGpus gpus;
  gpus.types = {"v100", "v100"};
  const Solution solution = solve(gpus, 8, 4, profile);
  BOOST_TEST_REQUIRE(solution.configuration.has_value(), solution.reason);
  BOOST_TEST(solution.configuration->step_s > 0);
}

BOOST_AUTO_TEST_CASE(it_can_be_printed) {
  const TempDir dir;
  const Ended run =
      ended(dir,
            "profile --model gpt --layers 1 --width 16 --heads 2 --sequence-length 16 "
            "--subset 64 --gpu-type cpu --batches 4 --max-streams 1 --steps 1 -o -");
  BOOST_TEST_REQUIRE(run.code == 0, run.err);
  BOOST_TEST(profile_from_json(run.out, "printed").types.count("cpu") == 1U);
}

BOOST_AUTO_TEST_CASE(errors_are_one_line) {
  const TempDir dir;
  for (const auto& [line, code, text] : std::vector<std::tuple<std::string, int, std::string>>{
           {"profile -o p.json", 2, "--gpu-type: is missing"},
           {"profile --gpu-type v100 -o /nowhere/p.json --model gpt --subset 64", 3,
            "-o=/nowhere/p.json: there is no such folder"},
           {"profile --gpu-type v100 -o - --model resnet", 2, "--model=resnet"},
           {"profile --gpu-type v100 -o - --data-dir /nowhere", 3, "/nowhere"}}) {
    const Ended run = ended(dir, line);
    BOOST_TEST(run.code == code, line << ": " << run.err);
    BOOST_TEST(run.err.find(text) != std::string::npos, run.err);
    BOOST_TEST(std::count(run.err.begin(), run.err.end(), '\n') == 1, run.err);
  }
}

BOOST_AUTO_TEST_SUITE_END()
