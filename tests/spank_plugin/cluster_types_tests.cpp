#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>

#include "spank_plugin/cluster_types.h"
#include "tests/support/temp_dir.h"

namespace {

using Types = std::vector<std::string>;
using namespace std::chrono_literals;

// A sinfo in front of PATH, for the life of this object.
class FakeSinfo {
 public:
  explicit FakeSinfo(const std::string& body) : old_path_(std::getenv("PATH")) {
    const std::string program = directory_ / "sinfo";
    std::ofstream(program) << "#!/bin/sh\n" << body << "\n";
    chmod(program.c_str(), 0700);
    setenv("PATH", (directory_.path() + ":" + old_path_).c_str(), 1);
  }
  FakeSinfo(const FakeSinfo&) = delete;
  FakeSinfo& operator=(const FakeSinfo&) = delete;
  ~FakeSinfo() { setenv("PATH", old_path_.c_str(), 1); }

 private:
  TempDir directory_;
  std::string old_path_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(cluster_types_tests)

BOOST_AUTO_TEST_CASE(types_in_lines_of_gres) {
  const Types expected = {"1g.5gb", "p100", "v100"};
  BOOST_TEST(
      jabas::gpu_types_of("gpu:v100:2(S:0,1),gpu:p100:1\n(null)\nshard:x:4,gpu:1g.5gb:7(S:0-1)\n"
                          "gpu:v100:8\ngpu:4\n") == expected,
      boost::test_tools::per_element());
  BOOST_TEST(jabas::gpu_types_of("").empty());
}

BOOST_AUTO_TEST_CASE(sinfo_is_asked) {
  const FakeSinfo sinfo("[ \"$*\" = '-h -a -o %G' ] && echo gpu:v100:2");
  const auto answer = jabas::ask_cluster_types(30s);
  BOOST_TEST(answer.answered);
  BOOST_TEST(answer.types == Types{"v100"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_failing_sinfo_is_no_answer) {
  const FakeSinfo sinfo("echo gpu:v100:2; exit 1");
  const auto answer = jabas::ask_cluster_types(30s);
  BOOST_TEST(!answer.answered);
  BOOST_TEST(answer.types.empty());
}

// The deadline ends it: without one this test would run into its own time limit.
BOOST_AUTO_TEST_CASE(a_hanging_sinfo_is_no_answer) {
  const FakeSinfo sinfo("echo gpu:v100:2; exec sleep 600");
  BOOST_TEST(!jabas::ask_cluster_types(200ms).answered);
}

BOOST_AUTO_TEST_SUITE_END()
