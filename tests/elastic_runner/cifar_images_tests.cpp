#include <boost/test/unit_test.hpp>

#include "elastic_runner/datasets.h"
#include "tests/elastic_runner/data_files.h"
#include "tests/support/complaint.h"
#include "tests/support/temp_dir.h"

namespace jabas {
namespace {

using namespace testing;

struct Fixture {
  Fixture() {
    write_cifar10(dir / "ten", 3);
    write_file(dir / "hundred/train.bin", cifar_text(7, 2, 1));
    write_file(dir / "hundred/test.bin", cifar_text(2, 2, 2));
    ten.dataset = "cifar10";
    ten.data_dir = (dir / "ten").string();
    hundred.dataset = "cifar100";
    hundred.data_dir = (dir / "hundred").string();
  }
  std::string error(const EngineOptions& options) const {
    return complaint_of([&] {
      BadSamples bad(false);
      open_images(options, bad);
    });
  }
  static std::vector<std::uint8_t> pixels(const ImageSet& set, const ImageSplit& split,
                                          std::int64_t image, RandomStream* random = nullptr) {
    std::vector<std::uint8_t> result(static_cast<std::size_t>(set.pixels()));
    split.read(image, random, result.data());
    return result;
  }

  TempDir dir;
  EngineOptions ten, hundred;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(cifar_images_tests, Fixture)

BOOST_AUTO_TEST_CASE(records_follow_each_other_over_the_files) {
  BadSamples bad(false);
  const ImageSet set = open_images(ten, bad);
  BOOST_TEST(set.channels == 3);
  BOOST_TEST(set.rows == 32);
  BOOST_TEST(set.classes == 10);
  BOOST_TEST(set.train->count() == 15);
  BOOST_TEST(set.test->count() == 3);
  const std::string fourth = read_file(dir / "ten/data_batch_2.bin").substr(0, 3073);
  BOOST_TEST(set.train->label(3) == fourth[0]);
  const auto found = pixels(set, *set.train, 3);
  BOOST_TEST(std::string(found.begin(), found.end()) == fourth.substr(1));
  BOOST_TEST(count_train_samples(ten) == 15);
  ten.subset = 4;
  BOOST_TEST(count_train_samples(ten) == 4);
}

BOOST_AUTO_TEST_CASE(of_two_labels_the_fine_one_counts) {
  BadSamples bad(false);
  const ImageSet set = open_images(hundred, bad);
  BOOST_TEST(set.classes == 100);
  BOOST_TEST(set.train->count() == 7);
  const std::string second = read_file(dir / "hundred/train.bin").substr(3074, 3074);
  BOOST_TEST(set.train->label(1) == second[1]);
  const auto found = pixels(set, *set.train, 1);
  BOOST_TEST(std::string(found.begin(), found.end()) == second.substr(2));
}

BOOST_AUTO_TEST_CASE(augmentation_is_a_function_of_the_stream) {
  ten.reading.augment = true;
  BadSamples bad(false);
  const ImageSet set = open_images(ten, bad);
  RandomStream first({1}), again({1}), other({2});
  const auto one = pixels(set, *set.train, 0, &first);
  BOOST_TEST((one == pixels(set, *set.train, 0, &again)));
  BOOST_TEST((one != pixels(set, *set.train, 0, &other)));
  // Test images never change.
  BOOST_TEST((pixels(set, *set.test, 0, &first) == pixels(set, *set.test, 0)));
}

BOOST_AUTO_TEST_CASE(defects_are_named) {
  const std::string file = ten.data_dir + "/data_batch_2.bin", whole = read_file(file);
  write_file(file, whole.substr(0, 4000));
  BOOST_TEST(error(ten) == file +
                               ": truncated, or no cifar10 file: 4000 bytes are not a multiple of "
                               "3073");
  write_file(file, "");
  BOOST_TEST(error(ten) == file + ": has no images");
  std::string wrong = whole;
  wrong[3073] = 10;
  write_file(file, wrong);
  BOOST_TEST(error(ten) == file + ": label 10 of image 1, accepted are 0..9");
  std::filesystem::remove(file);
  BOOST_TEST(error(ten) == file + ": cannot be read: No such file or directory");
  std::filesystem::create_directory(file);
  BOOST_TEST(error(ten) == file + ": cannot be read: Is a directory");
  ten.dataset = "cifar1000";
  BOOST_TEST(error(ten) == "--dataset=cifar1000: no such data set");
  hundred.subset = 8;
  BOOST_TEST(error(hundred) == "--subset=8: the training set has 7 samples");
}

BOOST_AUTO_TEST_CASE(bad_records_are_left_out_and_counted) {
  const std::string file = ten.data_dir + "/data_batch_2.bin";
  std::string text = read_file(file);
  text[3073] = 10;
  write_file(file, text.substr(0, text.size() - 5));
  ten.reading.skip_bad = true;
  std::int64_t count = 0;
  std::string reason;
  ten.on_skipped = [&](std::int64_t samples, const std::string& first) {
    count = samples;
    reason = first;
  };
  BOOST_TEST(count_train_samples(ten) == 13);
  BOOST_TEST(count == 2);
  BOOST_TEST(reason ==
             file + ": truncated, or no cifar10 file: 9214 bytes are not a multiple of 3073");
  BadSamples bad(true);
  const ImageSet set = open_images(ten, bad);
  BOOST_TEST(set.train->label(4) == read_file(ten.data_dir + "/data_batch_3.bin")[0]);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
