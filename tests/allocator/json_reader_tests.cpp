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

BOOST_AUTO_TEST_CASE(what_json_has_not_is_refused_by_key) {
  const auto problem = [](const std::string& text) {
    try {
      JsonReader reader = JsonReader::parse(text, "f");
      reader.number("x");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  BOOST_TEST(problem(R"({"NaN \\\" NaN": 1, "x": NaN})") == "f: x: \"NaN\" is not a number");
  BOOST_TEST(problem(R"({"x": -Infinity})") == "f: x: \"-Infinity\" is not a number");
  BOOST_TEST(problem(R"({"x": Infinity, "y": [1,]})").starts_with("f: is not JSON: "));
  BOOST_TEST(problem(R"({"x": 1, "y": "[[[[{{{{ \" [[["})") == "accepted");
}

BOOST_AUTO_TEST_CASE(depth_and_length_are_bounded) {
  const auto nested = [](std::size_t depth) {
    return "{\"x\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
  };
  JsonReader::parse(nested(64), "f");
  for (const std::size_t depth : {65u, 1000000u})
    BOOST_CHECK_EXCEPTION(
        JsonReader::parse(nested(depth), "f"), InputError, [](const InputError& error) {
          return error.what() == std::string("f: is nested more than 64 levels deep");
        });
  JsonReader reader = JsonReader::parse("{\"x\": \"" + std::string(1000, 'a') + "\"}", "f");
  BOOST_CHECK_EXCEPTION(reader.number("x"), InputError, [](const InputError& error) {
    return std::string(error.what()).size() < 120;
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
