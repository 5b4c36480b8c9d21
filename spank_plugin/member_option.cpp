#include "spank_plugin/member_option.h"

#include <iterator>

#include "spank_plugin/option_values.h"

namespace jabas {
namespace {

// What jabasd sets for every member.
constexpr const char* kReservedLong[] = {"wrap", "job-name", "output", "gres",
                                         "time", "comment",  "export", "array"};
constexpr std::string_view kReservedShort = "Jota";
// sbatch's short options without a value: another may follow in the same word.
constexpr std::string_view kNoValueShort = "HhIkOQsvVW";

// "" or the reserved option (as the user may know it) that `word` sets. sbatch takes any unique
// prefix of a long name.
std::string reserved_option(std::string_view word) {
  if (word.size() < 2 || word[0] != '-') return "";
  if (word[1] != '-') {
    for (const char letter : word.substr(1)) {
      if (kReservedShort.find(letter) != std::string_view::npos) return std::string("-") + letter;
      if (kNoValueShort.find(letter) == std::string_view::npos) return "";
    }
    return "";
  }
  const std::string_view name = word.substr(2, word.find('=') - 2);
  if (name.empty()) return "--";
  if (name.starts_with("jabas")) return "--" + std::string(name);
  for (const std::string_view reserved : kReservedLong) {
    if (reserved.starts_with(name)) return "--" + std::string(reserved);
  }
  return "";
}

std::string check_words(const std::vector<std::string>& words) {
  bool value_allowed = false;
  for (const std::string& word : words) {
    if (std::string option = reserved_option(word); !option.empty()) {
      return option + " is set by the system and cannot be given";
    }
    const bool option = word.size() >= 2 && word[0] == '-';
    if (!option && !value_allowed) {
      return "'" + word + "' is not an sbatch option (these start with '-')";
    }
    value_allowed = option && word.find('=') == std::string::npos;
  }
  return "";
}

// Splits at ';' outside quotes, so that a quoted constraint may contain one.
std::vector<std::string_view> split_types(std::string_view text) {
  std::vector<std::string_view> parts;
  char quote = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == '\'') {
      if (c == quote) quote = 0;
    } else if (c == '\\') {
      ++i;
    } else if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == ';') {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  if (begin < text.size()) parts.push_back(text.substr(begin));
  return parts;
}

}  // namespace

std::string read_member(std::string_view value, const std::vector<std::string>& known_types,
                        std::vector<std::pair<std::string, std::string>>* member) {
  std::vector<std::pair<std::string, std::string>> result;
  for (std::string_view part : split_types(value)) {
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    const auto colon = part.find(':');
    if (colon == std::string_view::npos) {
      return "'" + std::string(part) + "' is not TYPE:sbatch options";
    }
    const std::string type(part.substr(0, colon));
    if (std::string problem = check_type(type, known_types); !problem.empty()) return problem;
    for (const auto& other : result) {
      if (other.first == type) return "type " + type + " is given twice";
    }
    std::vector<std::string> words;
    std::string error;
    if (!split_words(part.substr(colon + 1), &words, &error)) return "type " + type + ": " + error;
    if (words.empty()) return "type " + type + ": no sbatch options";
    if (std::string problem = check_words(words); !problem.empty()) {
      return "type " + type + ": " + problem;
    }
    result.emplace_back(type, part.substr(colon + 1));
  }
  *member = std::move(result);
  return "";
}

bool split_words(std::string_view text, std::vector<std::string>* words, std::string* error) {
  std::vector<std::string> result;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote) {
      const bool escapes =
          quote == '"' && c == '\\' && i + 1 < text.size() &&
          (text[i + 1] == '"' || text[i + 1] == '\\' || text[i + 1] == '$' || text[i + 1] == '`');
      if (c == quote) {
        quote = 0;
      } else {
        word += escapes ? text[++i] : c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == '\\') {
      if (i + 1 == text.size()) {
        *error = "a backslash ends the text";
        return false;
      }
      word += text[++i];
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (in_word) result.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote) {
    *error = std::string("a quote ") + quote + " is not closed";
    return false;
  }
  if (in_word) result.push_back(std::move(word));
  *words = std::move(result);
  return true;
}

}  // namespace jabas
