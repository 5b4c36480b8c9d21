#include "allocator/acct_time.h"

#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string_view>
#include <utility>

#include "allocator/error.h"

namespace jabas::acct {
namespace {

std::tm local(double unix_s) {
  const auto seconds = static_cast<std::time_t>(unix_s);
  std::tm result{};
  ::localtime_r(&seconds, &result);
  return result;
}

double unix_seconds(std::tm when) {
  when.tm_isdst = -1;
  return static_cast<double>(std::mktime(&when));
}

// Reads one time specification from left to right.
class TimeReader {
 public:
  TimeReader(const std::string& text, double now_s) : text_(text), now_s_(now_s) {
    for (const char c : text)
      lower_ += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }

  double read() {
    if (word("uts")) return done(static_cast<double>(number(1, 15, 0, 999'999'999'999'999)));
    if (word("now")) return done(now_s_ + offset());
    std::tm when = local(now_s_);
    when.tm_hour = when.tm_min = when.tm_sec = 0;
    if (word("tomorrow")) {
      ++when.tm_mday;
      return done(unix_seconds(when));
    }
    static constexpr std::array<std::pair<std::string_view, int>, 6> kHours = {{{"today", 0},
                                                                                {"midnight", 0},
                                                                                {"elevenses", 11},
                                                                                {"noon", 12},
                                                                                {"fika", 15},
                                                                                {"teatime", 16}}};
    for (const auto& [name, hour] : kHours) {
      if (!word(name)) continue;
      when.tm_hour = hour;
      return done(unix_seconds(when));
    }
    if (is_clock()) {
      clock(when);
      return done(unix_seconds(when));
    }
    date(when);
    if (at_ < lower_.size()) {
      if (lower_[at_] != '-' && lower_[at_] != 't') fail();
      ++at_;
      clock(when);
    }
    return done(unix_seconds(when));
  }

 private:
  [[noreturn]] void fail() const {
    throw UsageError("Invalid time specification (pos=" + std::to_string(at_) + "): " + text_);
  }
  double done(double value) const {
    if (at_ != lower_.size()) fail();
    return value;
  }
  bool word(std::string_view expected) {
    if (std::string_view(lower_).substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }
  bool digit(std::size_t at) const {
    return at < lower_.size() && std::isdigit(static_cast<unsigned char>(lower_[at])) != 0;
  }
  std::size_t digits() const {
    std::size_t count = 0;
    while (digit(at_ + count)) ++count;
    return count;
  }
  long number(std::size_t least, std::size_t most, long min, long max) {
    const std::size_t begin = at_;
    long value = 0;
    std::size_t count = 0;
    while (count < most && digit(at_)) {
      value = value * 10 + (lower_[at_++] - '0');
      ++count;
    }
    if (count < least || value < min || value > max) {
      at_ = begin;
      fail();
    }
    return value;
  }
  bool is_clock() const {
    const std::size_t count = digits();
    return count >= 1 && count <= 2 && at_ + count < lower_.size() && lower_[at_ + count] == ':';
  }
  void clock(std::tm& when) {
    when.tm_hour = static_cast<int>(number(1, 2, 0, 23));
    if (!word(":")) fail();
    when.tm_min = static_cast<int>(number(2, 2, 0, 59));
    when.tm_sec = word(":") ? static_cast<int>(number(2, 2, 0, 59)) : 0;
    const bool pm = word("pm");
    if (!pm && !word("am")) return;
    if (when.tm_hour < 1 || when.tm_hour > 12) fail();
    when.tm_hour = when.tm_hour % 12 + (pm ? 12 : 0);
  }
  void date(std::tm& when) {
    const std::size_t count = digits();
    if (count == 4 && at_ + 4 < lower_.size() && lower_[at_ + 4] == '-' && digit(at_ + 5) &&
        digit(at_ + 6) && at_ + 7 < lower_.size() && lower_[at_ + 7] == '-') {
      when.tm_year = static_cast<int>(number(4, 4, 1900, 9999)) - 1900;
      ++at_;
      when.tm_mon = static_cast<int>(number(2, 2, 1, 12)) - 1;
      ++at_;
      when.tm_mday = static_cast<int>(number(2, 2, 1, 31));
    } else if (count == 4 || count == 6) {
      when.tm_mon = static_cast<int>(number(2, 2, 1, 12)) - 1;
      when.tm_mday = static_cast<int>(number(2, 2, 1, 31));
      if (count == 6) when.tm_year = static_cast<int>(number(2, 2, 0, 99)) + 100;
    } else {
      when.tm_mon = static_cast<int>(number(1, 2, 1, 12)) - 1;
      const char separator = at_ < lower_.size() ? lower_[at_] : '\0';
      if (separator != '/' && separator != '.') fail();
      ++at_;
      when.tm_mday = static_cast<int>(number(1, 2, 1, 31));
      if (at_ < lower_.size() && lower_[at_] == separator) {
        ++at_;
        when.tm_year = static_cast<int>(number(2, 2, 0, 99)) + 100;
      }
    }
  }
  double offset() {
    if (at_ == lower_.size()) return 0;
    const bool minus = word("-");
    if (!minus && !word("+")) fail();
    const auto count = static_cast<double>(number(1, 9, 0, 999'999'999));
    static constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
        {{"seconds", 1}, {"minutes", 60}, {"hours", 3600}, {"days", 86400}, {"weeks", 604800}}};
    double unit = 1;
    if (at_ < lower_.size()) {
      const std::string_view rest = std::string_view(lower_).substr(at_);
      bool known = false;
      for (const auto& [name, seconds] : kUnits) {
        if (name.substr(0, rest.size()) != rest) continue;  // "min", "h": any beginning will do
        unit = seconds;
        known = true;
        break;
      }
      if (!known) fail();
      at_ = lower_.size();
    }
    return (minus ? -count : count) * unit;
  }

  const std::string& text_;
  std::string lower_;
  double now_s_;
  std::size_t at_ = 0;
};

std::string format(const char* pattern, long long a, long long b, long long c) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, a, b, c);
  return text;
}

}  // namespace

double parse_time(const std::string& text, double now_s) { return TimeReader(text, now_s).read(); }

double midnight(double now_s) {
  std::tm when = local(now_s);
  when.tm_hour = when.tm_min = when.tm_sec = 0;
  return unix_seconds(when);
}

std::string time_text(double unix_s, const std::string& format) {
  if (unix_s <= 0) return "Unknown";
  const std::tm when = local(unix_s);
  const bool own = !format.empty() && format != "standard" && format != "relative";
  char text[256];
  const std::size_t length =
      std::strftime(text, sizeof text, own ? format.c_str() : "%Y-%m-%dT%H:%M:%S", &when);
  return {text, length};
}

std::string duration_text(double seconds) {
  if (!(seconds >= 0)) return "INVALID";
  const long long whole = std::llround(seconds);
  const std::string clock =
      format("%02lld:%02lld:%02lld", whole / 3600 % 24, whole / 60 % 60, whole % 60);
  return whole < 86400 ? clock : std::to_string(whole / 86400) + "-" + clock;
}

std::string short_duration_text(double seconds) {
  if (!(seconds >= 0)) return "INVALID";
  const long long milliseconds = std::llround(seconds * 1000);
  if (milliseconds >= 3'600'000) return duration_text(seconds);
  return format("%02lld:%02lld.%03lld", milliseconds / 60000, milliseconds / 1000 % 60,
                milliseconds % 1000);
}

}  // namespace jabas::acct
