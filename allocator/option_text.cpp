#include "allocator/option_text.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace jabas {
namespace {

constexpr long kMaxDays = 36500;

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<long> whole_number(std::string_view text) {
  long number = 0;
  if (text.empty() || !std::isdigit(static_cast<unsigned char>(text[0]))) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> real_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

std::string shortest_text(double number) {
  char buffer[32];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr);
}

std::optional<long> slurm_duration_s(std::string_view text) {
  const auto dash = text.find('-');
  const bool has_days = dash != std::string_view::npos;
  long days = 0;
  if (has_days) {
    const auto number = whole_number(text.substr(0, dash));
    if (!number || *number > kMaxDays) return std::nullopt;
    days = *number;
    text.remove_prefix(dash + 1);
  }
  const auto parts = split(text, ':');
  if (parts.size() > 3) return std::nullopt;
  // Seconds of each field, by the number of fields; behind "D-" the first field is hours, alone it
  // is minutes.
  static constexpr std::array<std::array<long, 3>, 3> kBehindDays = {
      {{3600, 0, 0}, {3600, 60, 0}, {3600, 60, 1}}};
  static constexpr std::array<std::array<long, 3>, 3> kAlone = {
      {{60, 0, 0}, {60, 1, 0}, {3600, 60, 1}}};
  const auto& weights = (has_days ? kBehindDays : kAlone)[parts.size() - 1];
  long total = days * 86400;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = whole_number(parts[i]);
    if (!number || *number > kMaxDays * 1440) return std::nullopt;
    total += *number * weights[i];
  }
  return total;
}

std::string to_duration_text(long seconds) {
  char text[64];
  std::snprintf(text, sizeof text, "%ld-%02ld:%02ld:%02ld", seconds / 86400, seconds / 3600 % 24,
                seconds / 60 % 60, seconds % 60);
  return text;
}

std::optional<double> duration_s(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const double unit_s = text.back() == 's'   ? 1
                        : text.back() == 'm' ? 60
                        : text.back() == 'h' ? 3600
                                             : 0;
  if (unit_s == 0) {
    const std::optional<long> seconds = slurm_duration_s(text);
    return seconds ? std::optional<double>(double(*seconds)) : std::nullopt;
  }
  const std::optional<double> number = real_number(text.substr(0, text.size() - 1));
  if (!number || *number < 0 || *number * unit_s > double(kMaxDays) * 86400) return std::nullopt;
  return *number * unit_s;
}

}  // namespace jabas
