#include "elastic_runner/option_checks.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "allocator/error.h"

namespace jabas {

void require(bool condition, const std::string& text) {
  if (!condition) throw UsageError(text);
}

std::vector<std::int64_t> parse_whole_numbers(const std::string& text, std::int64_t least,
                                              std::int64_t most, const std::string& complaint) {
  std::vector<std::int64_t> numbers;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, value);
    require(error == std::errc() && stop == text.data() + end && value >= least && value <= most,
            complaint);
    numbers.push_back(value);
    begin = end + 1;
  }
  return numbers;
}

void parse_command_line(CLI::App& app, const std::vector<std::string>& arguments) {
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    throw HelpRequested(app.help());
  } catch (const CLI::ParseError& error) {
    std::string text = error.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    throw UsageError(text + "; see " + app.get_name() + " --help");
  }
}

std::string enumerated(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) list += i + 1 == names.size() ? " and " : ", ";
    list += names[i];
  }
  return list;
}

void require_one_of(const std::string& option, const std::string& value,
                    const std::vector<std::string>& accepted) {
  if (std::find(accepted.begin(), accepted.end(), value) != accepted.end()) return;
  throw UsageError(option + "=" + value + ": accepted " + (accepted.size() == 1 ? "is " : "are ") +
                   enumerated(accepted));
}

void require_range(const std::string& option, double value, double least, double most,
                   const std::string& accepted) {
  if (std::isfinite(value) && value >= least && value <= most) return;
  char number[32];
  std::snprintf(number, sizeof number, "%.15g", value);
  throw UsageError(option + "=" + number + ": accepted is " + accepted);
}

}  // namespace jabas
