#include <boost/test/unit_test.hpp>
#include <string>

#include "allocator/error.h"
#include "allocator/training_spec.h"

using namespace jabas;

namespace {

TrainingSpec unusual() {
  TrainingSpec spec;
  spec.model = "mlp";
  spec.data_dir = "/data/\xff\xfe odd";  // not UTF-8
  spec.subset = 1234567890123;
  spec.vsw = {{2}, {4}, {3, 3, 2}};
  spec.accum = {{0}};
  spec.local_batch_fixed = true;
  spec.similarity_target = 0.1 + 0.2;
  spec.seed = 18446744073709551615u;
  spec.workers_per_epoch = {4, 2, 3};
  return spec;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  BOOST_REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

std::string error_of(const std::string& text) {
  try {
    training_spec_from_json(text);
  } catch (const ProtocolError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(training_spec_tests)

BOOST_AUTO_TEST_CASE(reads_what_it_wrote) {
  const TrainingSpec read = training_spec_from_json(to_json_text(unusual()));
  BOOST_TEST(to_json_text(read) == to_json_text(unusual()));
  BOOST_TEST(read.data_dir == unusual().data_dir);
  BOOST_TEST(read.seed == 18446744073709551615u);
  BOOST_TEST(read.similarity_target == 0.1 + 0.2);
  BOOST_TEST((read.vsw == SplitTable{{2}, {4}, {3, 3, 2}}));
  BOOST_TEST((read.workers_per_epoch == std::vector<int>{4, 2, 3}));
}

BOOST_AUTO_TEST_CASE(names_the_key_that_is_missing_or_wrong) {
  const std::string good = to_json_text(TrainingSpec{});
  BOOST_TEST(error_of(replaced(good, "\"epochs\":1,", "")) == "spec.epochs: missing");
  BOOST_TEST(
      error_of(replaced(good, "\"epochs\":1,", "\"epochs\":\"two\",")) ==
      "spec.epochs: found \"two\", accepted is a whole number from -2147483648 to 2147483647");
  BOOST_TEST(error_of(replaced(good, "\"epochs\":1,", "\"epochs\":1.5,")) ==
             "spec.epochs: found 1.5, accepted is a whole number from -2147483648 to 2147483647");
  BOOST_TEST(
      error_of(replaced(good, "\"epochs\":1,", "\"epochs\":2147483648,")) ==
      "spec.epochs: found 2147483648, accepted is a whole number from -2147483648 to 2147483647");
  BOOST_TEST(error_of(replaced(good, "\"seed\":0", "\"seed\":-1")) ==
             "spec.seed: found -1, accepted is a whole number from 0");
  BOOST_TEST(error_of(replaced(good, "\"adaptive\":false", "\"adaptive\":0")) ==
             "spec.adaptive: found 0, accepted is true or false");
  BOOST_TEST(error_of(replaced(good, "\"vsw\":[]", "\"vsw\":[1]")) ==
             "spec.vsw: found 1, accepted is a list");
  BOOST_TEST(error_of("[]") == "spec: found a list, accepted is an object");
  BOOST_TEST(error_of("{") == "spec: not JSON");
}

BOOST_AUTO_TEST_CASE(ignores_unknown_keys) {
  const std::string text = replaced(to_json_text(TrainingSpec{}), "{", "{\"later\":[1,{}],");
  BOOST_TEST(to_json_text(training_spec_from_json(text)) == to_json_text(TrainingSpec{}));
}

BOOST_AUTO_TEST_SUITE_END()
