#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "allocator/error.h"
#include "elastic_runner/iidp_engine.h"
#include "elastic_runner/text_corpus.h"
#include "tests/elastic_runner/synthetic_text.h"

namespace jabas {
namespace {

using testing::SyntheticText;

std::string text_of(const std::uint8_t* sample, std::int64_t length) {
  return {sample, sample + length};
}

std::string error_of(const std::string& path, std::int64_t length, std::int64_t subset = 0) {
  try {
    TextCorpus(path, length, subset);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(text_corpus_tests)

BOOST_AUTO_TEST_CASE(files_follow_each_other_by_name_and_the_last_tenth_is_for_testing) {
  const SyntheticText folder;
  std::filesystem::remove(folder.file("text"));
  folder.write("b", "klmnopqrstuvwxyz");
  folder.write("a", "abcdefghij");
  std::filesystem::create_directory(folder.file("c"));
  folder.write("c/d", "0123456789");
  std::filesystem::create_symlink(folder.file("a"), folder.file("z"));  // would be read twice
  const TextCorpus corpus(folder.path(), 5, 0);                         // 36 bytes: 7 samples
  BOOST_TEST(corpus.train_samples() == 6);
  BOOST_TEST(corpus.test_samples() == 1);
  BOOST_TEST(text_of(corpus.train_sample(0), 6) == "abcdef");
  BOOST_TEST(text_of(corpus.train_sample(1), 6) == "fghijk");
  BOOST_TEST(text_of(corpus.train_sample(5), 6) == "z01234");
  BOOST_TEST(text_of(corpus.test_sample(0), 6) == "456789");
  const TextCorpus some(folder.path(), 5, 2);
  BOOST_TEST(some.train_samples() == 2);
  BOOST_TEST(text_of(some.test_sample(0), 6) == "456789");
  BOOST_TEST(TextCorpus(folder.file("a"), 3, 0).train_samples() == 2);
}

BOOST_AUTO_TEST_CASE(unusable_folders_are_named) {
  const SyntheticText folder(20);
  BOOST_TEST(error_of(folder.file("none"), 4) == folder.file("none") + ": no such file or folder");
  BOOST_TEST(error_of(folder.path(), 10) ==
             folder.path() + ": 20 bytes, at least 21 are needed for two samples of 10 bytes");
  BOOST_TEST(error_of(folder.path(), 4, 5) == "--subset=5: the training set has 3 samples");
  std::filesystem::remove(folder.file("text"));
  BOOST_TEST(error_of(folder.path(), 4) == folder.path() + ": has no files");
}

BOOST_AUTO_TEST_CASE(the_engines_options_count_it) {
  const SyntheticText folder(1001);
  EngineOptions options;
  options.dataset = "text";
  options.data_dir = folder.path();
  options.sequence_length = 10;
  BOOST_TEST(count_train_samples(options) == 90);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
