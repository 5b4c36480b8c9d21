#include <boost/test/unit_test.hpp>

#include "allocator/error.h"
#include "allocator/json_reader.h"

namespace jabas {
namespace {

auto says(const std::string& text) {
  return [text](const InputError& error) { return error.what() == text; };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(json_reader_tests)

BOOST_AUTO_TEST_CASE(reads_each_kind) {
  JsonReader reader = JsonReader::parse(
      R"({"n": 1.5, "i": -3, "t": "x", "f": true, "o": {"k": 2}, "a": [{"z": 1}, {}], "l": [1, 2], "p": [[1, 2]]})",
      "F");
  BOOST_TEST(reader.number("n") == 1.5);
  BOOST_TEST(reader.integer("i", -5, 5) == -3);
  BOOST_TEST(reader.text("t") == "x");
  BOOST_TEST(reader.flag_or("f", false) == true);
  BOOST_TEST(reader.object("o").integer("k", 0, 9) == 2);
  BOOST_TEST(reader.objects("a").size() == 2u);
  BOOST_TEST(reader.numbers("l") == (std::vector<double>{1, 2}), boost::test_tools::per_element());
  BOOST_TEST(reader.pairs("p").front().second == 2);
  BOOST_TEST(reader.number_or("none", 7) == 7);
  reader.finish();
}

BOOST_AUTO_TEST_CASE(names_place_value_and_what_is_accepted) {
  JsonReader reader = JsonReader::parse(
      R"({"n": -1, "i": 9, "h": 1.5, "t": 3, "o": {"k": "v"}, "p": [[1]], "big": 1e19})", "F");
  BOOST_CHECK_EXCEPTION(reader.number("n"), InputError,
                        says("F: n: -1 is not accepted: must be a number of at least 0.0"));
  BOOST_CHECK_EXCEPTION(reader.integer("i", 0, 5), InputError,
                        says("F: i: 9 is not accepted: must be a whole number, 0..5"));
  BOOST_CHECK_EXCEPTION(reader.integer("h", 0, 5), InputError,
                        says("F: h: 1.5 is not accepted: must be a whole number, 0..5"));
  BOOST_CHECK_EXCEPTION(reader.text("t"), InputError, says("F: t: 3 is not a text"));
  BOOST_CHECK_EXCEPTION(reader.object("o").number("k"), InputError,
                        says("F: o.k: \"v\" is not a number"));
  BOOST_CHECK_EXCEPTION(reader.pairs("p"), InputError,
                        says("F: p[0]: [1] is not a pair of numbers"));
  BOOST_CHECK_EXCEPTION(reader.number("gone"), InputError, says("F: gone: is missing"));
  BOOST_CHECK_THROW(reader.integer("big", 0, 5), InputError);
}

BOOST_AUTO_TEST_CASE(an_unknown_key_is_an_error) {
  JsonReader reader = JsonReader::parse(R"({"known": 1, "knwon": 2})", "F");
  reader.number("known");
  BOOST_CHECK_EXCEPTION(reader.finish(), InputError, says("F: knwon: is not a known key"));
}

BOOST_AUTO_TEST_CASE(broken_text_is_an_error) {
  for (const char* text : {"", "{", "[1]", "{\"a\": 1e999}", "nul"})
    BOOST_CHECK_THROW(JsonReader::parse(text, "F").number("a"), InputError);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
