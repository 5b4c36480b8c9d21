#include <boost/test/unit_test.hpp>
#include <sstream>

#include "elastic_runner/profile_options.h"
#include "elastic_runner/train_options.h"
#include "tests/support/complaint.h"

using namespace jabas;

namespace {

ProfileCommand parse(const std::string& line) {
  std::istringstream words(line);
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  return parse_profile_arguments(arguments);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(profile_options_tests)

BOOST_AUTO_TEST_CASE(own_options_and_those_of_train) {
  const ProfileCommand command = parse(
      "--model gpt --layers 2 --gpu-type v100 --batches 64,16,32,16 --max-streams 2 --steps 7 "
      "--gpus-per-node 8 --optimizer adamw -o p.json");
  BOOST_TEST(command.spec.model == "gpt");
  BOOST_TEST(command.spec.layers == 2);
  BOOST_TEST(command.spec.optimizer == "adamw");
  BOOST_TEST(command.gpu_type == "v100");
  BOOST_TEST(command.batches == (std::vector<std::int64_t>{16, 32, 64}),
             boost::test_tools::per_element());
  BOOST_TEST(command.max_streams == 2);
  BOOST_TEST(command.repeats == 7);
  BOOST_TEST(command.gpus_per_node == 8);
  BOOST_TEST(command.output == "p.json");
}

BOOST_AUTO_TEST_CASE(bad_options_name_what_is_accepted) {
  for (const auto& [line, expected] : std::vector<std::pair<std::string, std::string>>{
           {"-o p",
            "--gpu-type: is missing; accepted is the GRES type of this GPU, as Slurm spells it"},
           {"--gpu-type v100", "-o: is missing; accepted is a file, or - to print the profile"},
           {"--gpu-type v100 -o p --batches 8,x",
            "--batches=8,x: accepted is N,M,… with whole numbers in 1..1048576"},
           {"--gpu-type v100 -o p --batches 8,",
            "--batches=8,: accepted is N,M,… with whole numbers in 1..1048576"},
           {"--gpu-type v100 -o p --max-streams 0",
            "--max-streams=0: accepted is a whole number in 1..64"},
           {"--gpu-type v100 -o p --steps 0", "--steps=0: accepted is a whole number in 1..10000"},
           {"--gpu-type v100 -o p --gpus-per-node 0",
            "--gpus-per-node=0: accepted is a whole number in 1..1024"},
           {"--gpu-type v100 -o p --device emulated --emulate /e",
            "--device=emulated: an emulated GPU has its profile already; accepted are auto, cpu "
            "and "
            "cuda"}}) {
    BOOST_TEST(complaint_of([&] { parse(line); }) == expected);
  }
  BOOST_TEST(complaint_of([&] { parse("--gpu-type v100 -o p --mdoel cnn"); }).find("--mdoel") !=
             std::string::npos);
  BOOST_CHECK_THROW(parse("--help"), HelpRequested);
}

BOOST_AUTO_TEST_SUITE_END()
