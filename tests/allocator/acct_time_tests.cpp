#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <ctime>
#include <string>

#include "allocator/acct_time.h"
#include "allocator/error.h"

using namespace jabas::acct;

namespace {

struct Utc {
  Utc() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
  double now_s = 1764590400;  // 2025-12-01T12:00:00

  std::string read(const std::string& text) { return time_text(parse_time(text, now_s)); }
  std::string error(const std::string& text) {
    try {
      parse_time(text, now_s);
    } catch (const jabas::UsageError& caught) {
      return caught.what();
    }
    return "no error";
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(acct_time_tests, Utc)

BOOST_AUTO_TEST_CASE(reads_what_sacct_reads) {
  BOOST_TEST(read("2025-11-30") == "2025-11-30T00:00:00");
  BOOST_TEST(read("2025-11-30T08:09") == "2025-11-30T08:09:00");
  BOOST_TEST(read("2025-11-30T08:09:10") == "2025-11-30T08:09:10");
  BOOST_TEST(read("2025-11-30t08:09:10") == "2025-11-30T08:09:10");
  BOOST_TEST(read("08:09") == "2025-12-01T08:09:00");
  BOOST_TEST(read("8:09:10PM") == "2025-12-01T20:09:10");
  BOOST_TEST(read("12:00am") == "2025-12-01T00:00:00");
  BOOST_TEST(read("12:30pm") == "2025-12-01T12:30:00");
  BOOST_TEST(read("1130") == "2025-11-30T00:00:00");
  BOOST_TEST(read("113024") == "2024-11-30T00:00:00");
  BOOST_TEST(read("1130-08:09") == "2025-11-30T08:09:00");
  BOOST_TEST(read("11/30") == "2025-11-30T00:00:00");
  BOOST_TEST(read("11/3/24-08:09") == "2024-11-03T08:09:00");
  BOOST_TEST(read("11.30.24") == "2024-11-30T00:00:00");
  BOOST_TEST(read("today") == "2025-12-01T00:00:00");
  BOOST_TEST(read("midnight") == "2025-12-01T00:00:00");
  BOOST_TEST(read("Noon") == "2025-12-01T12:00:00");
  BOOST_TEST(read("elevenses") == "2025-12-01T11:00:00");
  BOOST_TEST(read("fika") == "2025-12-01T15:00:00");
  BOOST_TEST(read("teatime") == "2025-12-01T16:00:00");
  BOOST_TEST(read("tomorrow") == "2025-12-02T00:00:00");
  BOOST_TEST(read("uts1764590401") == "2025-12-01T12:00:01");
}

BOOST_AUTO_TEST_CASE(reads_offsets_from_now) {
  BOOST_TEST(read("now") == "2025-12-01T12:00:00");
  BOOST_TEST(read("now-90") == "2025-12-01T11:58:30");
  BOOST_TEST(read("now-5minutes") == "2025-12-01T11:55:00");
  BOOST_TEST(read("now-5min") == "2025-12-01T11:55:00");
  BOOST_TEST(read("now+2hours") == "2025-12-01T14:00:00");
  BOOST_TEST(read("now-1day") == "2025-11-30T12:00:00");
  BOOST_TEST(read("now-1weeks") == "2025-11-24T12:00:00");
}

BOOST_AUTO_TEST_CASE(says_where_it_stopped) {
  BOOST_TEST(error("x") == "Invalid time specification (pos=0): x");
  BOOST_TEST(error("") == "Invalid time specification (pos=0): ");
  BOOST_TEST(error("2025-13-01") == "Invalid time specification (pos=5): 2025-13-01");
  BOOST_TEST(error("2025-12-01T25:00") == "Invalid time specification (pos=11): 2025-12-01T25:00");
  BOOST_TEST(error("08:61") == "Invalid time specification (pos=3): 08:61");
  BOOST_TEST(error("now-5fortnights") == "Invalid time specification (pos=5): now-5fortnights");
  BOOST_TEST(error("todayish") == "Invalid time specification (pos=5): todayish");
  BOOST_TEST(error("13:00pm") == "Invalid time specification (pos=7): 13:00pm");
  BOOST_TEST(error("now-99999999999999") ==
             "Invalid time specification (pos=13): now-99999999999999");
}

BOOST_AUTO_TEST_CASE(writes_durations_like_slurm) {
  BOOST_TEST(duration_text(0) == "00:00:00");
  BOOST_TEST(duration_text(59.6) == "00:01:00");
  BOOST_TEST(duration_text(3661) == "01:01:01");
  BOOST_TEST(duration_text(86400 * 3 + 5) == "3-00:00:05");
  BOOST_TEST(duration_text(-1) == "INVALID");
  BOOST_TEST(short_duration_text(0.3124) == "00:00.312");
  BOOST_TEST(short_duration_text(61.5) == "01:01.500");
  BOOST_TEST(short_duration_text(3600) == "01:00:00");
}

BOOST_AUTO_TEST_CASE(writes_times_as_slurm_time_format_asks) {
  BOOST_TEST(time_text(now_s) == "2025-12-01T12:00:00");
  BOOST_TEST(time_text(now_s, "standard") == "2025-12-01T12:00:00");
  BOOST_TEST(time_text(now_s, "%H:%M") == "12:00");
  BOOST_TEST(time_text(0) == "Unknown");
  BOOST_TEST(midnight(now_s) == now_s - 12 * 3600);
}

BOOST_AUTO_TEST_SUITE_END()
