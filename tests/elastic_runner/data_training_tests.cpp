// `jabas-run train` on data sets in files, as a user starts it: readers, bad files, exact messages.
#include <boost/test/unit_test.hpp>

#include "tests/elastic_runner/data_files.h"
#include "tests/elastic_runner/exported_weights.h"
#include "tests/elastic_runner/program_run.h"
#include "tests/support/temp_dir.h"

using namespace jabas::testing;

namespace {

struct Fixture {
  struct Outcome {
    int code;
    std::string errors;
  };
  Outcome train(const std::string& line) const {
    ProgramRun run(dir.path(), "train --data-dir " + data + " " + line);
    const int code = run.wait();
    return {code, run.err()};
  }
  // Of a run that must succeed and read every sample exactly once.
  Weights weights_of(const std::string& line) const {
    const TempDir out;
    const std::string exported = (out / "w").string(), ledger = (out / "ledger").string();
    const Outcome outcome = train(line + " --export " + exported + " --ledger-out " + ledger);
    BOOST_TEST_REQUIRE(outcome.code == 0, line << ": " << outcome.errors);
    ProgramRun check(dir.path(), "check-ledger " + ledger);
    BOOST_TEST(check.wait() == 0);
    BOOST_TEST(check.out().find("every sample exactly once") != std::string::npos, check.out());
    return read_weights(exported);
  }

  TempDir dir;
  const std::string data = (dir / "data").string();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(data_training_tests, Fixture)

BOOST_AUTO_TEST_CASE(readers_change_no_weight_of_a_training_on_images) {
  write_image_folder(data, 12, 3);
  const std::string line =
      "--local 2,1 --epochs 2 --model cnn --dataset images --image-size 16 --augment --local-batch "
      "3 "
      "--virtual-workers 4 ";
  const Weights without = weights_of(line + "--readers 0");
  BOOST_TEST(largest_difference(without, weights_of(line + "--readers 2")) == 0);
  BOOST_TEST(largest_difference(without, weights_of(line + "--readers 0 --seed 1")) > 0);
}

BOOST_AUTO_TEST_CASE(bad_images_end_the_run_or_are_left_out) {
  write_image_folder(data, 6, 2);
  const std::string bad = data + "/train/bee/image3.PNG";
  write_file(bad, "no picture");
  const std::string line =
      "--local 1 --model cnn --dataset images --image-size 16 --local-batch 4 --virtual-workers 2";
  const Outcome strict = train(line);
  BOOST_TEST(strict.code == 3);
  BOOST_TEST(strict.errors.find(bad + ": is neither JPEG nor PNG") != std::string::npos,
             strict.errors);
  const Outcome tolerant = train(line + " --skip-bad");
  BOOST_TEST(tolerant.code == 0);
  BOOST_TEST(tolerant.errors.find("jabas-run: --skip-bad leaves out 1; the first is " + bad +
                                  ": is neither JPEG nor PNG\n") != std::string::npos,
             tolerant.errors);
  weights_of(line + " --skip-bad");
}

BOOST_AUTO_TEST_CASE(tokens_and_arrays) {
  std::vector<std::uint16_t> tokens;
  for (int i = 0; i < 400; ++i) tokens.push_back(static_cast<std::uint16_t>(i % 7));
  for (const char* name : {"/train.bin", "/test.bin"}) write_file(data + name, bytes_of(tokens));
  weights_of(
      "--local 2 --model gpt --layers 1 --width 16 --heads 2 --dataset tokens --vocabulary 7 "
      "--sequence-length 8 --local-batch 4 --virtual-workers 2 --readers 1");
  std::vector<float> inputs;
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 60; ++i) {
    labels.push_back(i % 3);
    for (int k = 0; k < 4; ++k) inputs.push_back(float(i % 3) + 0.1F * float(k));
  }
  for (const std::string split : {"/train", "/test"}) {
    write_file(data + split + "_inputs.npy", npy_text("<f4", "(60, 4)", bytes_of(inputs)));
    write_file(data + split + "_labels.npy", npy_text("<i4", "(60,)", bytes_of(labels)));
  }
  weights_of("--local 2 --model mlp --dataset npy --local-batch 4 --virtual-workers 4");
}

BOOST_AUTO_TEST_CASE(a_file_that_does_not_fit_is_refused_before_anything_starts) {
  write_file(data + "/data_batch_1.bin", "short");
  const Outcome outcome = train("--local 1 --model cnn --dataset cifar10");
  BOOST_TEST(outcome.code == 3);
  BOOST_TEST(outcome.errors == "jabas-run: " + data +
                                   "/data_batch_1.bin: truncated, or no cifar10 file: 5 bytes are "
                                   "not a multiple of 3073\n");
}

BOOST_AUTO_TEST_SUITE_END()
