#include "allocator/acct_record.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "allocator/error.h"

namespace jabas::acct {
namespace {

using Json = nlohmann::json;
const Json kNull;

}  // namespace

struct Record::Node {
  Json value;
  std::string where;

  const Json& at(const char* key) const {
    const auto found = value.find(key);
    return found == value.end() ? kNull : *found;
  }
};

Record Record::parse(const std::string& line, const std::string& where) {
  Json value = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) throw InputError(where + ": not a JSON object");
  return Record(std::make_shared<const Node>(Node{std::move(value), where}));
}

void Record::fail(const char* key, const std::string& accepted) const {
  throw InputError(node_->where + ": key \"" + key + "\": found " + node_->at(key).dump() +
                   ", accepted is " + accepted);
}

void Record::require(const char* key) const {
  if (!has(key)) throw InputError(node_->where + ": key \"" + key + "\" is missing");
}

bool Record::has(const char* key) const { return !node_->at(key).is_null(); }

double Record::number(const char* key, double fallback) const {
  if (!has(key)) return fallback;
  if (!node_->at(key).is_number()) fail(key, "a number");
  return node_->at(key).get<double>();
}

std::int64_t Record::count(const char* key) const {
  constexpr double kMost = 9e15;  // whole numbers up to here are exact in a double
  const double value = number(key);
  if (!(std::abs(value) <= kMost)) fail(key, "a whole number");
  return static_cast<std::int64_t>(value);
}

int Record::integer(const char* key) const {
  const std::int64_t value = count(key);
  if (std::abs(value) > std::numeric_limits<int>::max()) fail(key, "a whole number");
  return static_cast<int>(value);
}

bool Record::flag(const char* key) const {
  if (!has(key)) return false;
  if (!node_->at(key).is_boolean()) fail(key, "true or false");
  return node_->at(key).get<bool>();
}

std::string Record::text(const char* key) const {
  if (!has(key)) return "";
  const Json& value = node_->at(key);
  if (value.is_number_integer()) return value.dump();
  if (!value.is_string()) fail(key, "text");
  return value.get<std::string>();
}

std::map<std::string, double> Record::numbers(const char* key) const {
  std::map<std::string, double> result;
  if (!has(key)) return result;
  if (!node_->at(key).is_object()) fail(key, "an object of numbers");
  for (const auto& [name, value] : node_->at(key).items()) {
    if (!value.is_number()) fail(key, "an object of numbers");
    result[name] = value.get<double>();
  }
  return result;
}

std::map<std::string, int> Record::counts(const char* key) const {
  std::map<std::string, int> result;
  for (const auto& [name, value] : numbers(key)) {
    if (!(std::abs(value) <= std::numeric_limits<int>::max())) fail(key, "an object of counts");
    result[name] = static_cast<int>(value);
  }
  return result;
}

std::vector<std::string> Record::texts(const char* key) const {
  std::vector<std::string> result;
  if (!has(key)) return result;
  if (!node_->at(key).is_array()) fail(key, "a list of texts");
  for (const Json& item : node_->at(key)) {
    if (!item.is_string()) fail(key, "a list of texts");
    result.push_back(item.get<std::string>());
  }
  return result;
}

std::vector<std::vector<int>> Record::rows(const char* key) const {
  std::vector<std::vector<int>> result;
  if (!has(key)) return result;
  if (!node_->at(key).is_array()) fail(key, "a list of lists");
  for (const Json& item : node_->at(key)) {
    if (!item.is_array()) fail(key, "a list of lists");
    std::vector<int>& row = result.emplace_back();
    for (const Json& value : item) {
      if (!value.is_number_integer()) fail(key, "lists of whole numbers");
      row.push_back(value.get<int>());
    }
  }
  return result;
}

Record Record::object(const char* key) const {
  if (has(key) && !node_->at(key).is_object()) fail(key, "an object");
  return Record(std::make_shared<const Node>(
      Node{has(key) ? node_->at(key) : Json::object(), node_->where + ": " + key}));
}

std::vector<Record> Record::objects(const char* key) const {
  std::vector<Record> result;
  if (!has(key)) return result;
  if (!node_->at(key).is_array()) fail(key, "a list of objects");
  for (const Json& item : node_->at(key)) {
    if (!item.is_object()) fail(key, "a list of objects");
    result.push_back(Record(std::make_shared<const Node>(Node{item, node_->where + ": " + key})));
  }
  return result;
}

}  // namespace jabas::acct
