#include "allocator/json_reader.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "allocator/error.h"

namespace jabas {

using nlohmann::json;

namespace {

constexpr int kMaxDepth = 64;

// For an error line.
std::string shown(const json& item) {
  constexpr std::size_t kMaxShown = 80;
  const std::string text = item.dump();
  return text.size() <= kMaxShown
             ? text
             : item.dump(-1, ' ', /*ensure_ascii=*/true).substr(0, kMaxShown) + "…";
}

// Calls visit(index) for every character outside texts.
template <typename Visit>
void visit_outside_texts(const std::string& json_text, Visit visit) {
  bool inside = false;
  for (std::size_t i = 0; i < json_text.size(); ++i) {
    if (json_text[i] == '"')
      inside = !inside;
    else if (inside && json_text[i] == '\\')
      ++i;
    else if (!inside)
      visit(i);
  }
}

bool too_deep(const std::string& json_text) {
  int depth = 0, deepest = 0;
  visit_outside_texts(json_text, [&](std::size_t i) {
    if (json_text[i] == '[' || json_text[i] == '{') deepest = std::max(deepest, ++depth);
    if (json_text[i] == ']' || json_text[i] == '}') --depth;
  });
  return deepest > kMaxDepth;
}

// Some writers put NaN and Infinity into a file, which JSON does not have. As texts they are
// refused by key where a number is read.
std::string with_quoted_non_numbers(const std::string& json_text) {
  std::string result;
  std::size_t copied = 0;
  visit_outside_texts(json_text, [&](std::size_t i) {
    if (i < copied) return;
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"})
      if (json_text.compare(i, word.size(), word) == 0) {
        result.append(json_text, copied, i - copied).append("\"").append(word).append("\"");
        copied = i + word.size();
        return;
      }
  });
  return result.append(json_text, copied);
}

}  // namespace

struct JsonReader::Node {
  std::shared_ptr<const json> document;  // keeps `value` alive
  const json* value = nullptr;
  std::string name, path;  // path: "" at the top, else "types.v100."
  std::set<std::string> used;

  std::string where(const std::string& key) const { return name + ": " + path + key; }

  const json& at(const std::string& key) {
    const auto found = value->find(key);
    if (found == value->end()) throw InputError(where(key) + ": is missing");
    used.insert(key);
    return *found;
  }

  double checked(const std::string& key, const json& item, double min, double max) const {
    if (!item.is_number()) throw InputError(where(key) + ": " + shown(item) + " is not a number");
    const double number = item.get<double>();
    if (!std::isfinite(number) || number < min || number > max) {
      std::string accepted = "a number of at least " + json(min).dump();
      if (max < std::numeric_limits<double>::max()) accepted += " and at most " + json(max).dump();
      throw InputError(where(key) + ": " + shown(item) + " is not accepted: must be " + accepted);
    }
    return number;
  }

  const json& array(const std::string& key) {
    const json& item = at(key);
    if (!item.is_array()) throw InputError(where(key) + ": " + shown(item) + " is not an array");
    return item;
  }

  std::shared_ptr<Node> child(const std::string& key, const json& item) const {
    if (!item.is_object()) throw InputError(where(key) + ": " + shown(item) + " is not an object");
    auto node = std::make_shared<Node>();
    node->document = document;
    node->value = &item;
    node->name = name;
    node->path = path + key + ".";
    return node;
  }
};

JsonReader JsonReader::parse(const std::string& text, const std::string& name) {
  auto node = std::make_shared<Node>();
  node->name = name;
  if (too_deep(text))
    throw InputError(name + ": is nested more than " + std::to_string(kMaxDepth) + " levels deep");
  try {
    node->document = std::make_shared<const json>(json::parse(text));
  } catch (const json::exception& error) {
    json document = json::parse(with_quoted_non_numbers(text), nullptr, /*allow_exceptions=*/false);
    if (document.is_discarded()) throw InputError(name + ": is not JSON: " + error.what());
    node->document = std::make_shared<const json>(std::move(document));
  }
  node->value = node->document.get();
  if (!node->value->is_object()) throw InputError(name + ": is not a JSON object");
  return JsonReader(std::move(node));
}

bool JsonReader::has(const std::string& key) const { return node_->value->contains(key); }

std::vector<std::string> JsonReader::keys() const {
  std::vector<std::string> keys;
  for (const auto& item : node_->value->items()) keys.push_back(item.key());
  return keys;
}

double JsonReader::number(const std::string& key, double min, double max) {
  return node_->checked(key, node_->at(key), min, max);
}

double JsonReader::number_or(const std::string& key, double fallback, double min, double max) {
  return has(key) ? number(key, min, max) : fallback;
}

std::int64_t JsonReader::integer(const std::string& key, std::int64_t min, std::int64_t max) {
  const json& item = node_->at(key);
  const bool fits =
      item.is_number_integer() &&
      (!item.is_number_unsigned() ||
       item.get<std::uint64_t>() <= std::uint64_t(std::numeric_limits<std::int64_t>::max()));
  if (!fits || item.get<std::int64_t>() < min || item.get<std::int64_t>() > max)
    fail(key, shown(item) + " is not accepted: must be a whole number, " + std::to_string(min) +
                  ".." + std::to_string(max));
  return item.get<std::int64_t>();
}

std::int64_t JsonReader::integer_or(const std::string& key, std::int64_t fallback, std::int64_t min,
                                    std::int64_t max) {
  return has(key) ? integer(key, min, max) : fallback;
}

std::string JsonReader::text(const std::string& key) {
  const json& item = node_->at(key);
  if (!item.is_string()) fail(key, shown(item) + " is not a text");
  return item.get<std::string>();
}

std::string JsonReader::text_or(const std::string& key, const std::string& fallback) {
  return has(key) ? text(key) : fallback;
}

bool JsonReader::flag_or(const std::string& key, bool fallback) {
  if (!has(key)) return fallback;
  const json& item = node_->at(key);
  if (!item.is_boolean()) fail(key, shown(item) + " is not accepted: must be true or false");
  return item.get<bool>();
}

JsonReader JsonReader::object(const std::string& key) {
  return JsonReader(node_->child(key, node_->at(key)));
}

std::vector<JsonReader> JsonReader::objects(const std::string& key) {
  std::vector<JsonReader> readers;
  for (const json& item : node_->array(key))
    readers.push_back(
        JsonReader(node_->child(key + "[" + std::to_string(readers.size()) + "]", item)));
  return readers;
}

std::vector<double> JsonReader::numbers(const std::string& key, double max) {
  std::vector<double> numbers;
  for (const json& item : node_->array(key))
    numbers.push_back(
        node_->checked(key + "[" + std::to_string(numbers.size()) + "]", item, 0, max));
  return numbers;
}

std::vector<std::string> JsonReader::texts(const std::string& key) {
  std::vector<std::string> texts;
  for (const json& item : node_->array(key)) {
    if (!item.is_string())
      fail(key + "[" + std::to_string(texts.size()) + "]", shown(item) + " is not a text");
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::vector<std::pair<double, double>> JsonReader::pairs(const std::string& key, double max) {
  std::vector<std::pair<double, double>> pairs;
  for (const json& item : node_->array(key)) {
    const std::string entry = key + "[" + std::to_string(pairs.size()) + "]";
    if (!item.is_array() || item.size() != 2)
      fail(entry, shown(item) + " is not a pair of numbers");
    pairs.emplace_back(node_->checked(entry, item[0], 0, max),
                       node_->checked(entry, item[1], 0, max));
  }
  return pairs;
}

std::string JsonReader::dump() const { return node_->value->dump(); }

void JsonReader::finish() const {
  for (const auto& item : node_->value->items())
    if (!node_->used.contains(item.key())) fail(item.key(), "is not a known key");
}

void JsonReader::fail(const std::string& key, const std::string& what) const {
  throw InputError(node_->where(key) + ": " + what);
}

}  // namespace jabas
