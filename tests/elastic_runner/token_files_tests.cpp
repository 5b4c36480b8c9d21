#include <boost/test/unit_test.hpp>

#include "elastic_runner/token_files.h"
#include "tests/elastic_runner/data_files.h"
#include "tests/support/complaint.h"
#include "tests/support/temp_dir.h"

namespace jabas {
namespace {

using namespace testing;

struct Fixture {
  Fixture() {
    options.dataset = "tokens";
    options.data_dir = dir.path();
    options.sequence_length = 3;
    options.reading.vocabulary = 100;
    write_file(train, bytes_of<std::uint16_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 99}));
    write_file(test, bytes_of<std::uint16_t>({9, 8, 7, 6, 5}));
  }
  std::string error() const {
    return complaint_of([&] {
      BadSamples bad(false);
      TokenFiles(options, bad);
    });
  }
  static std::vector<std::int64_t> sample(const TokenFiles& files, std::int64_t i) {
    std::vector<std::int64_t> tokens(static_cast<std::size_t>(files.length()) + 1);
    files.read_train(i, tokens.data());
    return tokens;
  }

  TempDir dir;
  const std::string train = (dir / "train.bin").string(), test = (dir / "test.bin").string();
  EngineOptions options;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(token_files_tests, Fixture)

BOOST_AUTO_TEST_CASE(samples_overlap_by_the_token_to_predict) {
  BadSamples bad(false);
  const TokenFiles files(options, bad);
  BOOST_TEST(files.train_samples() == 3);
  BOOST_TEST(files.test_samples() == 1);
  BOOST_TEST(sample(files, 1) == (std::vector<std::int64_t>{3, 4, 5, 6}),
             boost::test_tools::per_element());
  BOOST_TEST(sample(files, 2).back() == 99);
  BOOST_TEST(count_train_samples(options) == 3);
  options.subset = 2;
  BOOST_TEST(count_train_samples(options) == 2);
}

BOOST_AUTO_TEST_CASE(wide_tokens) {
  options.reading.token_type = "uint32";
  options.reading.vocabulary = 100000;
  options.sequence_length = 1;
  for (const auto& file : {train, test}) write_file(file, bytes_of<std::uint32_t>({70000, 2, 3}));
  BadSamples bad(false);
  const TokenFiles files(options, bad);
  BOOST_TEST(files.train_samples() == 2);
  BOOST_TEST(sample(files, 0).front() == 70000);
}

BOOST_AUTO_TEST_CASE(defects_are_named) {
  write_file(train, "odd");
  BOOST_TEST(error() ==
             train +
                 ": truncated, or of another --token-type: 3 bytes are not a multiple of "
                 "2");
  write_file(train, bytes_of<std::uint16_t>({1, 2, 3}));
  BOOST_TEST(error() == train + ": 6 bytes, at least 8 are needed for a sample of 3 tokens");
  write_file(train, "");
  BOOST_TEST(error() == train + ": 0 bytes, at least 8 are needed for a sample of 3 tokens");
  std::filesystem::remove(train);
  BOOST_TEST(error() == train + ": cannot be read: No such file or directory");
}

BOOST_AUTO_TEST_CASE(a_token_outside_the_vocabulary_is_found_when_it_is_read) {
  options.reading.vocabulary = 99;
  BadSamples bad(false);
  const TokenFiles files(options, bad);
  BOOST_TEST(sample(files, 1).front() == 3);
  BOOST_TEST(complaint_of([&] { sample(files, 2); }) ==
             train + ": token 99 at position 9, accepted are 0..98 (--vocabulary)");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
