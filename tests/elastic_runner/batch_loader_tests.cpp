// The batches of every kind of data set, and what stands in for samples that cannot be read.
#include <ATen/ATen.h>

#include <boost/test/unit_test.hpp>

#include "elastic_runner/batch_loader.h"
#include "tests/elastic_runner/data_files.h"
#include "tests/support/complaint.h"
#include "tests/support/temp_dir.h"

namespace jabas {
namespace {

using namespace testing;
using Kind = DataShape::Kind;

struct Fixture {
  Fixture() { options.data_dir = dir.path(); }
  std::unique_ptr<const BatchLoader> open(const std::string& dataset,
                                          at::ScalarType type = at::kFloat) {
    options.dataset = dataset;
    return make_batch_loader(options, type);
  }
  static Batch train(const BatchLoader& loader, const std::vector<std::int64_t>& samples,
                     std::uint64_t seed = 1) {
    RandomStream random({seed});
    return loader.train(samples, random);
  }
  // The samples' tensors, each read alone.
  static bool reads_like(const BatchLoader& loader, std::int64_t sample, std::int64_t other) {
    const Batch a = train(loader, {sample}), b = train(loader, {other});
    return a.inputs[0].equal(b.inputs[0]) && a.labels.equal(b.labels);
  }

  TempDir dir;
  EngineOptions options;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(batch_loader_tests, Fixture)

BOOST_AUTO_TEST_CASE(cifar_is_normalised_by_channel) {
  write_cifar10(dir.path(), 3);
  const auto loader = open("cifar10", at::kDouble);
  BOOST_TEST((loader->shape().kind == Kind::kImages));
  const Batch batch = train(*loader, {0, 4});
  BOOST_TEST(batch.inputs[0].sizes().vec() == (std::vector<std::int64_t>{2, 3, 32, 32}),
             boost::test_tools::per_element());
  const std::string second = read_file(dir / "data_batch_2.bin").substr(3073, 3073);
  const double blue = static_cast<std::uint8_t>(second[1 + 2048]);
  BOOST_TEST(batch.inputs[0][1][2][0][0].item<double>() == (blue / 255 - 0.4465) / 0.2616,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(batch.labels[1].item<std::int64_t>() == second[0]);
}

BOOST_AUTO_TEST_CASE(augmentation_depends_on_the_stream_only) {
  write_cifar10(dir.path(), 3);
  options.reading.augment = true;
  const auto loader = open("cifar10");
  const Batch batch = train(*loader, {0, 1});
  BOOST_TEST(batch.inputs[0].equal(train(*loader, {0, 1}).inputs[0]));
  BOOST_TEST(!batch.inputs[0].equal(train(*loader, {0, 1}, 2).inputs[0]));
  BOOST_TEST(loader->test({0, 1}).inputs[0].equal(loader->test({0, 1}).inputs[0]));
}

BOOST_AUTO_TEST_CASE(tokens_come_with_the_ones_that_follow) {
  for (const char* name : {"train.bin", "test.bin"})
    write_file(dir / name, bytes_of<std::uint16_t>({1, 2, 3, 4, 5, 6, 7}));
  options.sequence_length = 2;
  options.reading.vocabulary = 8;
  const auto loader = open("tokens");
  BOOST_TEST(loader->shape().vocabulary == 8);
  const Batch batch = loader->test({2, 0});
  BOOST_TEST(batch.inputs[0].equal(at::tensor({5, 6, 1, 2}, at::kLong).view({2, 2})));
  BOOST_TEST(batch.labels.equal(at::tensor({6, 7, 2, 3}, at::kLong).view({2, 2})));
}

BOOST_AUTO_TEST_CASE(arrays_have_the_precision_of_the_training) {
  for (const std::string split : {"train", "test"}) {
    write_file(dir / (split + "_inputs.npy"),
               npy_text("<i4", "(3, 1, 2)", bytes_of<std::int32_t>({1, 2, 3, 4, 5, 6})));
    write_file(dir / (split + "_labels.npy"), npy_text("<f8", "(3,)", bytes_of<double>({1, 2, 3})));
  }
  const auto loader = open("npy");
  const Batch batch = train(*loader, {2, 1});
  BOOST_TEST(batch.inputs[0].equal(at::tensor({5, 6, 3, 4}, at::kFloat).view({2, 1, 2})));
  BOOST_TEST(batch.labels.equal(at::tensor({3, 2}, at::kFloat)));
  for (const std::string split : {"train", "test"})
    write_file(dir / (split + "_labels.npy"), npy_text("|u1", "(3,)", {"\0\1\2", 3}));
  BOOST_TEST(train(*open("npy", at::kDouble), {1}).labels.equal(at::tensor({1}, at::kLong)));
}

BOOST_AUTO_TEST_CASE(the_sample_after_it_stands_in_for_one_that_cannot_be_read) {
  write_image_folder(dir.path(), 3, 1);
  options.reading.image_size = 16;
  options.reading.augment = true;
  const auto strict = open("images");
  options.reading.skip_bad = true;
  const auto tolerant = open("images");
  // Damaged after the data set was looked at, or in a way that such a look does not find.
  for (const char* name :
       {"train/ant/image1.PNG", "train/ant/image2.jpg", "train/bee/image2.jpg"}) {
    std::string text = read_file(dir / name);
    for (std::size_t i = text.size() / 3; i < text.size() / 2; ++i) text[i] = '\xff';
    write_file(dir / name, text.substr(0, text.size() / 2));
  }
  BOOST_TEST(tolerant->train_samples() == 6);
  const std::string complaint = complaint_of([&] { train(*strict, {0, 1}); });
  BOOST_TEST(complaint.starts_with((dir / "train/ant/image1.PNG: ").string()), complaint);
  BOOST_TEST(reads_like(*tolerant, 1, 3));
  BOOST_TEST(reads_like(*tolerant, 2, 3));
  BOOST_TEST(reads_like(*tolerant, 5, 0));
  BOOST_TEST(train(*tolerant, {1, 0}).inputs[0].sizes()[0] == 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
