// Command lines of `jabas-run`, and checks of single option values.
// Pure.   Errors: UsageError, one line: option, value, what is accepted. HelpRequested carries the
// text of --help.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace jabas {

struct HelpRequested : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// "a, b and c".
std::string enumerated(const std::vector<std::string>& names);

// "N,M,…" with whole numbers from least to most; `complaint` is the text of the error.
std::vector<std::int64_t> parse_whole_numbers(const std::string& text, std::int64_t least,
                                              std::int64_t most, const std::string& complaint);

// What CLI11 finds wrong becomes one line that points to --help.
void parse_command_line(CLI::App& app, const std::vector<std::string>& arguments);

void require(bool condition, const std::string& text);
void require_one_of(const std::string& option, const std::string& value,
                    const std::vector<std::string>& accepted);
// least ≤ value ≤ most; `accepted` says it in words.
void require_range(const std::string& option, double value, double least, double most,
                   const std::string& accepted);

}  // namespace jabas
