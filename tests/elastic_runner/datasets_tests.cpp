#include <zlib.h>

#include <boost/test/unit_test.hpp>
#include <functional>
#include <sstream>

#include "allocator/error.h"
#include "elastic_runner/datasets.h"
#include "elastic_runner/iidp_engine.h"
#include "tests/elastic_runner/synthetic_mnist.h"

namespace jabas {
namespace {

using testing::SyntheticMnist;

struct Fixture : SyntheticMnist {
  Fixture() : SyntheticMnist(12, 5) {}

  std::string content(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(file(name), std::ios::binary).rdbuf();
    return text.str();
  }
  void compress(const std::string& name) const {
    const std::string plain = content(name);
    const gzFile out = gzopen(file(name + ".gz").c_str(), "wb");
    BOOST_TEST_REQUIRE(gzwrite(out, plain.data(), static_cast<unsigned>(plain.size())) ==
                       static_cast<int>(plain.size()));
    gzclose(out);
    std::filesystem::remove(file(name));
  }
  ImageSet open(std::int64_t subset = 0, const std::string& name = "fashion-mnist",
                bool skip_bad = false) const {
    EngineOptions options;
    options.dataset = name;
    options.data_dir = path();
    options.subset = subset;
    BadSamples bad(skip_bad);
    return open_images(options, bad);
  }
  // The error's text; a leading directory is left out.
  std::string error(std::int64_t subset = 0, const std::string& name = "fashion-mnist") const {
    try {
      open(subset, name);
    } catch (const Error& failure) {
      const std::string text = failure.what();
      return text.starts_with(path() + "/") ? text.substr(path().size() + 1) : text;
    }
    return "";
  }
};

const std::string kImages = "train-images-idx3-ubyte", kLabels = "train-labels-idx1-ubyte";

std::vector<std::uint8_t> pixels(const ImageSplit& split) {
  std::vector<std::uint8_t> all(static_cast<std::size_t>(split.count() * 784));
  for (std::int64_t i = 0; i < split.count(); ++i) split.read(i, nullptr, all.data() + i * 784);
  return all;
}

std::vector<std::int64_t> labels(const ImageSplit& split) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < split.count(); ++i) all.push_back(split.label(i));
  return all;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(datasets_tests, Fixture)

BOOST_AUTO_TEST_CASE(plain_and_compressed_files_give_the_same) {
  const ImageSet plain = open();
  BOOST_TEST(plain.train->count() == 12);
  BOOST_TEST(plain.test->count() == 5);
  BOOST_TEST(plain.pixels() == 784);
  for (const auto* name : {"train-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) compress(name);
  const ImageSet compressed = open(0, "mnist");
  BOOST_TEST((pixels(*compressed.train) == pixels(*plain.train)));
  BOOST_TEST((labels(*compressed.train) == labels(*plain.train)));
  BOOST_TEST((labels(*compressed.test) == labels(*plain.test)));
}

BOOST_AUTO_TEST_CASE(a_subset_is_the_first_training_samples) {
  const ImageSet all = open(), some = open(7);
  BOOST_TEST(some.train->count() == 7);
  BOOST_TEST(some.test->count() == 5);
  const auto whole = pixels(*all.train), part = pixels(*some.train);
  BOOST_TEST(std::equal(part.begin(), part.end(), whole.begin()));
  EngineOptions options;
  options.data_dir = path();
  options.subset = 7;
  BOOST_TEST(count_train_samples(options) == 7);
  BOOST_TEST(error(13) == "--subset=13: the training set has 12 samples");
  BOOST_TEST(error(-1) == "--subset=-1: the training set has 12 samples");
}

BOOST_AUTO_TEST_CASE(an_unknown_name_is_refused) {
  BOOST_TEST(error(0, "cifar") == "--dataset=cifar: no such data set");
}

BOOST_AUTO_TEST_CASE(a_missing_file_is_named) {
  std::filesystem::remove(file(kLabels));
  BOOST_TEST(error() == kLabels + ": not found, neither plain nor as .gz");
}

BOOST_AUTO_TEST_CASE(a_wrong_magic_is_named) {
  replace(kImages, content(kLabels));
  BOOST_TEST(error() == kImages + ": wrong magic 0x00000801, expected 0x00000803");
  replace(kImages, "hello world");
  BOOST_TEST(error() == kImages + ": wrong magic 0x68656c6c, expected 0x00000803");
}

BOOST_AUTO_TEST_CASE(truncations_are_named) {
  const std::string whole = content(kImages);
  replace(kImages, whole.substr(0, whole.size() - 1));
  BOOST_TEST(error() == kImages + ": truncated: 9407 of 9408 bytes of data");
  replace(kImages, whole.substr(0, 10));
  BOOST_TEST(error() == kImages + ": truncated: ends in its header");
  replace(kImages, "");
  BOOST_TEST(error() == kImages + ": truncated: ends in its header");
}

BOOST_AUTO_TEST_CASE(a_truncated_or_damaged_compressed_file_is_named) {
  compress(kImages);
  const std::string whole = content(kImages + ".gz");
  replace(kImages + ".gz", whole.substr(0, whole.size() / 2));
  BOOST_TEST(error().starts_with(kImages + ".gz: truncated: "), error());
  std::string damaged = whole;
  damaged[whole.size() / 2] = static_cast<char>(damaged[whole.size() / 2] ^ 0x55);
  replace(kImages + ".gz", damaged);
  BOOST_TEST(error().starts_with(kImages + ".gz: "), error());
  replace(kImages + ".gz",
          whole.substr(0, whole.size() - 6) + "xx" + whole.substr(whole.size() - 4));
  BOOST_TEST(error() == kImages + ".gz: cannot be read: incorrect data check");
}

BOOST_AUTO_TEST_CASE(sizes_that_do_not_fit_are_named) {
  const std::string images = content(kImages), labels = content(kLabels);
  replace(kImages, images + "x");
  BOOST_TEST(error() == kImages + ": longer than its header says (9408 bytes of data)");
  replace(kImages, images);
  replace(kLabels, big_endian(0x801) + big_endian(11) + labels.substr(8, 11));
  BOOST_TEST(error() == kLabels + ": 11 labels for 12 images");
  replace(kLabels, labels);
  replace(kImages,
          big_endian(0x803) + big_endian(12) + big_endian(14) + big_endian(56) + images.substr(16));
  BOOST_TEST(error() == kImages + ": images of 14x56 pixels, expected 28x28");
  replace(kImages, images_header(0));
  BOOST_TEST(error() == kImages + ": has no images");
}

BOOST_AUTO_TEST_CASE(a_label_out_of_range_is_named) {
  std::string labels = content(kLabels);
  labels[8 + 3] = 10;
  replace(kLabels, labels);
  BOOST_TEST(error() == kLabels + ": label 10 of sample 3, accepted are 0..9");
  // Or the sample is left out.
  const ImageSet rest = open(0, "fashion-mnist", true);
  BOOST_TEST(rest.train->count() == 11);
  labels[8 + 3] = 1;
  replace(kLabels, labels);
  auto expected = pixels(*open().train);
  expected.erase(expected.begin() + 3 * 784, expected.begin() + 4 * 784);
  BOOST_TEST((pixels(*rest.train) == expected));
  BOOST_TEST(rest.train->label(3) == labels[8 + 4]);
}

BOOST_AUTO_TEST_CASE(a_directory_in_place_of_a_file_is_refused) {
  std::filesystem::remove(file(kImages));
  std::filesystem::create_directory(file(kImages));
  BOOST_TEST(error() == kImages + ": cannot be read: Is a directory");
}

BOOST_AUTO_TEST_CASE(the_package_has_sixty_thousand_samples,
                     *boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
                       return boost::test_tools::assertion_result(
                           std::filesystem::exists("/usr/share/datasets/fashion-mnist"));
                     })) {
  BadSamples bad(false);
  const ImageSet set = open_images({}, bad);
  BOOST_TEST(set.train->count() == 60000);
  BOOST_TEST(set.test->count() == 10000);
  const auto values = pixels(*set.train);
  double sum = 0;
  for (const auto pixel : values) sum += pixel;
  BOOST_TEST(sum / 255 / static_cast<double>(values.size()) == set.mean[0],
             boost::test_tools::tolerance(1e-3));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
