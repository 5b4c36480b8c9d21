// Each kind of the reference's files with each kind of wrong value.
#include <boost/test/unit_test.hpp>
#include <random>

#include "allocator/profile_import_files.h"
#include "tests/support/complaint.h"

namespace jabas {
namespace {

using namespace reference_files;

constexpr char kCompute[] =
    R"({"model": "net", "gpu_type": "T4", "lbs": 8, "num_models": 1, "total_time": 9, "data_time": 1,
 "fwd_time": 10, "bwd_time": 20, "update_time": 2, "copy_time": 0.5, "bn_sync_time": 6})";
constexpr char kServers[] =
    R"({"n": {"type": "T4", "tfplos": 8.1, "number": 4, "intra_network_bandwidth": 2,
 "inter_network_bandwidth": 1}})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  BOOST_REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string compute_complaint(const std::string& from, const std::string& to) {
  return complaint_of([&] { read_compute(replaced(kCompute, from, to), "F"); });
}
std::string servers_complaint(const std::string& from, const std::string& to) {
  return complaint_of([&] { read_servers(replaced(kServers, from, to), "F"); });
}
std::string all_reduce_complaint(const std::string& text) {
  return complaint_of([&] { read_all_reduces(text, "F"); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(profile_import_files_tests)

BOOST_AUTO_TEST_CASE(compute_files) {
  BOOST_TEST(read_compute(kCompute, "F").point.bn_sync_s == 0.006);
  BOOST_TEST(compute_complaint(R"("fwd_time": 10)", R"("fwd_time": -10)") ==
             "F: fwd_time: -10 is not accepted: must be a number of at least 0.0");
  BOOST_TEST(compute_complaint(R"("fwd_time": 10)", R"("fwd_time": NaN)") ==
             "F: fwd_time: \"NaN\" is not a number");
  BOOST_TEST(compute_complaint(R"("fwd_time": 10)", R"("fwd_time": -Infinity)") ==
             "F: fwd_time: \"-Infinity\" is not a number");
  BOOST_TEST(compute_complaint(R"("fwd_time": 10)", R"("fwd_time": "10")") ==
             "F: fwd_time: \"10\" is not a number");
  BOOST_TEST(compute_complaint(R"("fwd_time": 10,)", "") == "F: fwd_time: is missing");
  BOOST_TEST(
      compute_complaint(R"("fwd_time": 10, "bwd_time": 20)", R"("fwd_time": 0, "bwd_time": 0)") ==
      "F: bwd_time: fwd_time + bwd_time is not above 0");
  BOOST_TEST(compute_complaint(R"("lbs": 8)", R"("lbs": 8.5)") ==
             "F: lbs: 8.5 is not accepted: must be a whole number, 1..1048576");
  BOOST_TEST(compute_complaint(R"("num_models": 1)", R"("num_models": 0)") ==
             "F: num_models: 0 is not accepted: must be a whole number, 1..64");
  BOOST_TEST(compute_complaint(R"("model": "net")", R"("model": 5)") ==
             "F: model: 5 is not a text");
  BOOST_TEST(compute_complaint("{", "[").starts_with("F: is not JSON"));
}

BOOST_AUTO_TEST_CASE(the_description_of_the_cluster) {
  BOOST_TEST(read_servers(kServers, "F").at("n").tflops == 8.1);
  BOOST_TEST(servers_complaint("tfplos", "tflops") == "F: n.tfplos: is missing");
  BOOST_TEST(servers_complaint(R"("number": 4)", R"("number": 0)") ==
             "F: n.number: 0 is not accepted: must be a whole number, 1..1024");
  BOOST_TEST(servers_complaint(R"(network_bandwidth": 2)", R"(network_bandwidth": 0)") ==
             "F: n.intra_network_bandwidth: 0 is not accepted: must be a number above 0");
  BOOST_TEST(complaint_of([] { read_servers("{}", "F"); }) == "F: names no server");
  BOOST_TEST(complaint_of([] { read_servers(R"({"n": 3})", "F"); }) == "F: n: 3 is not an object");
}

BOOST_AUTO_TEST_CASE(memory_and_buckets_and_configuration) {
  BOOST_TEST(read_memory(R"({"gpu_type": "T4", "lbs": 8, "max_num_models": 3})", "F").max_streams ==
             3);
  BOOST_TEST(complaint_of([] {
               read_memory(R"({"gpu_type": "T4", "lbs": 8, "max_num_models": -3})", "F");
             }) == "F: max_num_models: -3 is not accepted: must be a whole number, 1..64");
  BOOST_TEST(complaint_of([] { read_buckets(R"({"bucket_size_distribution": []})", "F"); }) ==
             "F: bucket_size_distribution: the sizes do not add up to a number above 0");
  BOOST_TEST(complaint_of([] { read_buckets(R"({"bucket_size_distribution": [1, -2]})", "F"); }) ==
             "F: bucket_size_distribution[1]: -2 is not accepted: must be a number of at least 0.0 "
             "and at most 1000000000.0");
  BOOST_TEST(complaint_of([] { read_config(R"({"available_servers": ["a", 1]})", "F"); }) ==
             "F: available_servers[1]: 1 is not a text");
  BOOST_TEST(complaint_of([] { read_config(R"({"comp_profile_dir": 1})", "F"); }) ==
             "F: comp_profile_dir: 1 is not a text");
}

BOOST_AUTO_TEST_CASE(all_reduce_times) {
  BOOST_TEST(read_all_reduces("1,2\n\n 3 , 4e0 \r\n", "F").size() == 2u);
  const std::string end =
      "' is not accepted: must be IDEAL_MS,MEASURED_MS, two numbers of at least 0";
  for (const char* line : {"1", "1,", ",1", "1,2,3", "1,x", "-1,2", "1,nan", "inf,1", "1;2"})
    BOOST_TEST(all_reduce_complaint("1,2\n" + std::string(line) + "\n") ==
               "F: line 2: '" + std::string(line) + end);
  BOOST_TEST(all_reduce_complaint("2,2\n2,3\n") ==
             "F: 2 lines: must have two different ideal times at least, to fit a line");
  BOOST_TEST(all_reduce_complaint("") ==
             "F: 0 lines: must have two different ideal times at least, to fit a line");
}

// Whatever the bytes are, the answer is a value or an error of ours.
BOOST_AUTO_TEST_CASE(damaged_files_never_crash) {
  const unsigned seed = 20261201;
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  const std::vector<std::string> texts = {
      kCompute, kServers, R"({"model": "m", "bucket_size_distribution": [1, 2.5]})", "1,2\n3,4\n"};
  const std::string bytes = "{}[]\",:-+.eE0159NaInfity \n\\u\xc3\xff";
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = texts[random() % texts.size()];
    for (unsigned edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % (text.size() + 1);
      switch (random() % 3) {
        case 0:
          text.insert(at, 1, bytes[random() % bytes.size()]);
          break;
        case 1:
          text.erase(at, 1 + random() % 5);
          break;
        default:
          text.insert(at, text.substr(random() % (text.size() + 1), random() % 20));
          break;
      }
    }
    const std::string problem = complaint_of([&] { read_compute(text, "F"); }) +
                                complaint_of([&] { read_servers(text, "F"); }) +
                                complaint_of([&] { read_memory(text, "F"); }) +
                                complaint_of([&] { read_buckets(text, "F"); }) +
                                complaint_of([&] { read_config(text, "F"); }) +
                                all_reduce_complaint(text);
    refused += problem.find("F: ") != std::string::npos;
  }
  BOOST_TEST(refused > 10000);
  BOOST_TEST(complaint_of([] { read_servers(std::string(100000, '['), "F"); }) ==
             "F: is nested more than 64 levels deep");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
