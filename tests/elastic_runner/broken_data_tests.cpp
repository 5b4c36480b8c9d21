// Files with bytes changed, repeated, removed or cut off: each is read, or refused with an error
// that names it. Nothing else may happen.
#include <boost/test/unit_test.hpp>
#include <functional>
#include <random>

#include "elastic_runner/datasets.h"
#include "elastic_runner/npy_arrays.h"
#include "elastic_runner/token_files.h"
#include "tests/elastic_runner/data_files.h"
#include "tests/elastic_runner/synthetic_mnist.h"
#include "tests/fuzz/mutate.h"
#include "tests/support/complaint.h"

namespace jabas {
namespace {

using namespace testing;

struct Fixture {
  Fixture() {
    options.data_dir = dir.path();
    options.sequence_length = 4;
    options.reading.vocabulary = 1000;
    options.reading.image_size = 8;
    BOOST_TEST_MESSAGE("seed " << seed);
  }
  // Breaks the beginning of `file` (its header), or any of it, `count` times.
  void attack(const std::string& file, int count, const std::function<void()>& use) {
    const std::string path = dir.file(file), good = read_file(path);
    int refused = 0;
    for (int i = 0; i < count; ++i) {
      const std::size_t header = std::min<std::size_t>(good.size(), i % 2 == 0 ? 160 : good.size());
      write_file(path, fuzz::mutate_text(good.substr(0, header), random) + good.substr(header));
      for (const bool skip : {false, true}) {
        options.reading.skip_bad = skip;
        const std::string complaint = complaint_of(use);
        refused += complaint != "accepted" ? 1 : 0;
        BOOST_TEST((complaint == "accepted" || complaint.find(dir.path()) == 0),
                   "seed " << seed << ", input " << i << ": " << complaint);
        BOOST_TEST(complaint.find('\n') == std::string::npos);
      }
    }
    write_file(path, good);
    BOOST_TEST(refused > 0);
    BOOST_TEST(complaint_of(use) == "accepted");
  }
  void read_images() {
    BadSamples bad(options.reading.skip_bad);
    const ImageSet set = open_images(options, bad);
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(set.pixels()));
    for (const auto* split : {set.train.get(), set.test.get()})
      for (std::int64_t i = 0; i < split->count(); ++i) split->read(i, nullptr, pixels.data());
  }

  const SyntheticMnist dir{4, 2};
  const std::uint64_t seed = std::random_device{}();
  fuzz::Random random{seed};
  EngineOptions options;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(broken_data_tests, Fixture)

BOOST_AUTO_TEST_CASE(idx) {
  attack("train-images-idx3-ubyte", 100, [&] { read_images(); });
  attack("t10k-labels-idx1-ubyte", 100, [&] { read_images(); });
}

BOOST_AUTO_TEST_CASE(cifar) {
  options.dataset = "cifar10";
  write_cifar10(dir.path(), 2);
  attack("data_batch_3.bin", 100, [&] { read_images(); });
}

BOOST_AUTO_TEST_CASE(jpeg_and_png) {
  options.dataset = "images";
  write_image_folder(dir.path(), 2, 1, 24);
  attack("train/ant/image0.jpg", 120, [&] { read_images(); });
  attack("train/bee/image1.PNG", 120, [&] { read_images(); });
}

BOOST_AUTO_TEST_CASE(token_files) {
  options.dataset = "tokens";
  const std::string text = bytes_of(std::vector<std::uint16_t>(40, 5));
  for (const char* name : {"train.bin", "test.bin"}) write_file(dir.file(name), text);
  attack("train.bin", 100, [&] {
    BadSamples bad(options.reading.skip_bad);
    const TokenFiles files(options, bad);
    std::vector<std::int64_t> tokens(5);
    for (std::int64_t i = 0; i < files.train_samples(); ++i) files.read_train(i, tokens.data());
  });
}

BOOST_AUTO_TEST_CASE(npy) {
  for (const std::string split : {"train", "test"}) {
    write_file(dir.file(split + "_inputs.npy"),
               npy_text("<f4", "(3, 2)", bytes_of<float>({0, 1, 2, 3, 4, 5})));
    write_file(dir.file(split + "_labels.npy"),
               npy_text("<i4", "(3,)", bytes_of<std::int32_t>({2, 0, 1})));
  }
  const auto use = [&] {
    BadSamples bad(options.reading.skip_bad);
    const NpyArrays arrays(options, bad);
    arrays.shape();
    std::vector<double> row(static_cast<std::size_t>(arrays.train().inputs.numbers_per_row()));
    for (const auto i : arrays.train().rows) arrays.train().inputs.read_row(i, row.data());
  };
  attack("train_inputs.npy", 400, use);
  attack("test_labels.npy", 400, use);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
