// A TorchScript file that Python exported trains to the weights Python trains it to.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>

#include "tests/elastic_runner/engine_fixture.h"
#include "tests/support/shell_command.h"
#include "tests/support/temp_dir.h"

namespace jabas {
namespace {

using namespace testing;

// Debian's python3-torch is for Debian's own Python, whatever else is first on the path.
constexpr const char* kPython = "/usr/bin/python3";

boost::test_tools::assertion_result has_pytorch(boost::unit_test::test_unit_id) {
  const std::string command = std::string(kPython) + " -c 'import torch' >/dev/null 2>&1";
  boost::test_tools::assertion_result result(std::system(command.c_str()) == 0);
  result.message() << "the package python3-torch is not installed";
  return result;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(torchscript_python_tests, EngineFixture,
                         *boost::unit_test::precondition(has_pytorch))

BOOST_AUTO_TEST_CASE(sgd_gives_pythons_weights) {
  const TempDir directory;
  const char* source = std::getenv("JABAS_SOURCE_DIR");
  BOOST_REQUIRE_MESSAGE(source, "JABAS_SOURCE_DIR is set by CTest");
  const auto exported = run_command(std::string(kPython) + " '" + source +
                                    "/tests/elastic_runner/torchscript_export.py' '" + data.path() +
                                    "' '" + directory.path() + "'");
  BOOST_REQUIRE_MESSAGE(exported.code == 0, exported.text);

  auto options = this->options("cnn", "fp64");
  options.model = directory.path() + "/model.pt";
  const auto communicator = solo();
  const auto engine = make_iidp_engine(options);
  for (int step = 0; step < 8; ++step)  // as many, of as many samples, as in the script
    engine->train_step(plan_for({{1, 0}}, 0, consecutive({16}, step * 16), step + 1),
                       *communicator);

  std::ifstream file(directory.path() + "/trained.bin", std::ios::binary);
  double worst = 0;
  std::int64_t compared = 0;
  for (const StateTensor& tensor : engine->state()) {
    if (tensor.dtype != "F64" ||
        !(tensor.name.starts_with("weight/") || tensor.name.starts_with("buffer/")))
      continue;
    const auto* ours = static_cast<const double*>(tensor.data);
    std::vector<double> theirs(tensor.bytes / sizeof(double));
    file.read(reinterpret_cast<char*>(theirs.data()), std::streamsize(tensor.bytes));
    BOOST_TEST_REQUIRE(bool(file), tensor.name << " is missing in Python's file");
    for (std::size_t i = 0; i < theirs.size(); ++i)
      worst = std::max(worst, std::abs(ours[i] - theirs[i]));
    compared += std::ssize(theirs);
  }
  BOOST_TEST(file.peek() == std::ifstream::traits_type::eof());
  BOOST_TEST(compared > 300);
  BOOST_TEST_MESSAGE("largest difference " << worst << " in " << compared << " numbers");
  BOOST_TEST(worst <= 1e-12);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
