#include <boost/test/unit_test.hpp>

#include "allocator/option_text.h"

namespace jabas {

BOOST_AUTO_TEST_SUITE(option_text_tests)

BOOST_AUTO_TEST_CASE(durations_in_all_forms) {
  for (const auto& [text, seconds] : {std::pair("90", 5400.0),
                                      {"01:30", 90.0},
                                      {"1:00:00", 3600.0},
                                      {"1-0", 86400.0},
                                      {"1-02:03", 93780.0},
                                      {"1-02:03:04", 93784.0},
                                      {"90s", 90.0},
                                      {"1.5m", 90.0},
                                      {"0.5h", 1800.0},
                                      {"0s", 0.0}})
    BOOST_TEST(duration_s(text).value_or(-1) == seconds, text);
  for (const char* text : {"", "s", "h", "-1s", "1d", "1:2:3:4", "1-", "nans", "infh", "1e300h",
                           "1.5", " 1", "1 s", "1::2"})
    BOOST_TEST(!duration_s(text), text);
  BOOST_TEST(to_duration_text(93784) == "1-02:03:04");
}

BOOST_AUTO_TEST_CASE(numbers_are_whole_texts) {
  BOOST_TEST(whole_number("12").value_or(-1) == 12);
  BOOST_TEST(real_number("-1.5").value_or(0) == -1.5);
  for (const char* text : {"", "+1", "1x", " 1", "99999999999999999999"})
    BOOST_TEST(!whole_number(text), text);
  for (const char* text : {"", "nan", "inf", "1x", "1e999"}) BOOST_TEST(!real_number(text), text);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
