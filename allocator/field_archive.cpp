#include "allocator/field_archive.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "allocator/base64.h"
#include "allocator/error.h"

namespace jabas {
namespace {

// Written in the order in which fields are visited, so that messages read as documented. Read into
// the plain kind: the ordered one copies its values, recursively, whenever an object grows, and a
// peer chooses the depth.
using OrderedJson = nlohmann::ordered_json;
using Json = nlohmann::json;

constexpr char kBase64Key[] = "base64";

OrderedJson text_to_json(const std::string& text) {
  try {
    const OrderedJson value(text);
    (void)value.dump();  // the library checks UTF-8 only when it writes
    return value;
  } catch (const OrderedJson::type_error&) {
    return OrderedJson{{kBase64Key, base64_encode(text)}};
  }
}

OrderedJson double_to_json(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "NaN";
  return value > 0 ? "Infinity" : "-Infinity";
}

class Writer : public FieldArchive {
 public:
  OrderedJson json = OrderedJson::object();

  void field(const char* key, bool& value) override { json[key] = value; }
  void field(const char* key, int& value) override { json[key] = value; }
  void field(const char* key, std::int64_t& value) override { json[key] = value; }
  void field(const char* key, std::uint64_t& value) override { json[key] = value; }
  void field(const char* key, double& value) override { json[key] = double_to_json(value); }
  void field(const char* key, std::string& value) override { json[key] = text_to_json(value); }
  void field(const char* key, std::vector<std::string>& value) override {
    OrderedJson list = OrderedJson::array();
    for (const auto& text : value) list.push_back(text_to_json(text));
    json[key] = std::move(list);
  }
  void field(const char* key, std::vector<int>& value) override { json[key] = value; }
  void field(const char* key, std::vector<std::vector<int>>& value) override { json[key] = value; }
  void field(const char* key, std::map<std::string, std::string>& value) override {
    // Pairs, not an object: names of environment variables need not be UTF-8 either.
    OrderedJson list = OrderedJson::array();
    for (const auto& [name, text] : value) {
      list.push_back(OrderedJson::array({text_to_json(name), text_to_json(text)}));
    }
    json[key] = std::move(list);
  }
  void field(const char* key, std::map<std::string, int>& value) override {
    OrderedJson object = OrderedJson::object();
    for (const auto& [name, count] : value) object[name] = count;
    json[key] = std::move(object);
  }
  void bytes(const char* key, std::string& value) override { json[key] = base64_encode(value); }
  void bytes(const char* key, std::vector<std::string>& value) override {
    OrderedJson list = OrderedJson::array();
    for (const auto& raw : value) list.push_back(base64_encode(raw));
    json[key] = std::move(list);
  }
  void rename(const std::string&) override {}
  void object(const char* key, const std::function<void(FieldArchive&)>& body) override {
    Writer inner;
    body(inner);
    json[key] = std::move(inner.json);
  }

 protected:
  void object_list(const char* key, const std::function<void(std::size_t)>&, std::size_t size,
                   const std::function<void(FieldArchive&, std::size_t)>& body) override {
    OrderedJson list = OrderedJson::array();
    for (std::size_t i = 0; i < size; ++i) {
      Writer inner;
      body(inner, i);
      list.push_back(std::move(inner.json));
    }
    json[key] = std::move(list);
  }
};

class Reader : public FieldArchive {
 public:
  Reader(const Json& json, std::string path) : json_(json), path_(std::move(path)) {
    if (!json_.is_object()) reject(path_, json_, "an object");
  }

  void field(const char* key, bool& value) override {
    const Json& found = get(key);
    if (!found.is_boolean()) reject(at(key), found, "true or false");
    value = found.get<bool>();
  }
  void field(const char* key, int& value) override { value = integer<int>(get(key), at(key)); }
  void field(const char* key, std::int64_t& value) override {
    value = integer<std::int64_t>(get(key), at(key));
  }
  void field(const char* key, std::uint64_t& value) override {
    const Json& found = get(key);
    if (!found.is_number_unsigned()) reject(at(key), found, "a whole number from 0");
    value = found.get<std::uint64_t>();
  }
  void field(const char* key, double& value) override {
    const Json& found = get(key);
    if (found.is_number()) {
      value = found.get<double>();
    } else if (found == "NaN") {
      value = std::numeric_limits<double>::quiet_NaN();
    } else if (found == "Infinity") {
      value = std::numeric_limits<double>::infinity();
    } else if (found == "-Infinity") {
      value = -std::numeric_limits<double>::infinity();
    } else {
      reject(at(key), found, "a number");
    }
  }
  void field(const char* key, std::string& value) override { value = text(get(key), at(key)); }
  void field(const char* key, std::vector<std::string>& value) override {
    value.clear();
    for (const Json& item : list(get(key), at(key))) value.push_back(text(item, at(key)));
  }
  void field(const char* key, std::vector<int>& value) override { value = row(get(key), at(key)); }
  void field(const char* key, std::vector<std::vector<int>>& value) override {
    value.clear();
    for (const Json& item : list(get(key), at(key))) value.push_back(row(item, at(key)));
  }
  void field(const char* key, std::map<std::string, std::string>& value) override {
    value.clear();
    for (const Json& pair : list(get(key), at(key))) {
      if (!pair.is_array() || pair.size() != 2) reject(at(key), pair, "a pair of texts");
      value[text(pair[0], at(key))] = text(pair[1], at(key));
    }
  }
  void field(const char* key, std::map<std::string, int>& value) override {
    const Json& found = get(key);
    if (!found.is_object()) reject(at(key), found, "an object of counts");
    value.clear();
    for (const auto& [name, count] : found.items()) {
      value[name] = integer<int>(count, at(key) + "." + name);
    }
  }
  void bytes(const char* key, std::string& value) override { value = raw(get(key), at(key)); }
  void bytes(const char* key, std::vector<std::string>& value) override {
    value.clear();
    for (const Json& item : list(get(key), at(key))) value.push_back(raw(item, at(key)));
  }
  void rename(const std::string& name) override { path_ = name; }
  void object(const char* key, const std::function<void(FieldArchive&)>& body) override {
    Reader inner(get(key), at(key));
    body(inner);
  }

 protected:
  void object_list(const char* key, const std::function<void(std::size_t)>& resize, std::size_t,
                   const std::function<void(FieldArchive&, std::size_t)>& body) override {
    const Json& items = list(get(key), at(key));
    resize(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      Reader inner(items[i], at(key) + "[" + std::to_string(i) + "]");
      body(inner, i);
    }
  }

 private:
  [[noreturn]] static void reject(const std::string& path, const Json& found,
                                  const std::string& accepted) {
    // Lists and objects by name only: dump() recurses too.
    std::string shown = found.is_array() ? "a list"
                        : found.is_object()
                            ? "an object"
                            : found.dump(-1, ' ', false, Json::error_handler_t::replace);
    constexpr std::size_t kShown = 60;
    if (shown.size() > kShown) shown = shown.substr(0, kShown) + "…";
    throw ProtocolError(path + ": found " + shown + ", accepted is " + accepted);
  }
  std::string at(const char* key) const { return path_.empty() ? key : path_ + "." + key; }
  const Json& get(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) throw ProtocolError(at(key) + ": missing");
    return *found;
  }
  template <typename Integer>
  static Integer integer(const Json& found, const std::string& path) {
    constexpr auto kMin = std::numeric_limits<Integer>::min();
    constexpr auto kMax = std::numeric_limits<Integer>::max();
    const bool fits = found.is_number_unsigned()
                          ? found.get<std::uint64_t>() <= static_cast<std::uint64_t>(kMax)
                          : found.is_number_integer() && found.get<std::int64_t>() >= kMin;
    if (!fits) {
      reject(path, found,
             "a whole number from " + std::to_string(kMin) + " to " + std::to_string(kMax));
    }
    return found.get<Integer>();
  }
  static const Json& list(const Json& found, const std::string& path) {
    if (!found.is_array()) reject(path, found, "a list");
    return found;
  }
  static std::vector<int> row(const Json& found, const std::string& path) {
    std::vector<int> values;
    for (const Json& item : list(found, path)) values.push_back(integer<int>(item, path));
    return values;
  }
  static std::string raw(const Json& found, const std::string& path) {
    if (found.is_string()) {
      if (auto decoded = base64_decode(found.get_ref<const std::string&>())) return *decoded;
    }
    reject(path, found, "base64 text");
  }
  static std::string text(const Json& found, const std::string& path) {
    if (found.is_string()) return found.get<std::string>();
    if (found.is_object() && found.contains(kBase64Key)) return raw(found[kBase64Key], path);
    reject(path, found, "text");
  }

  const Json& json_;
  std::string path_;
};

}  // namespace

std::string write_object(const std::function<void(FieldArchive&)>& body) {
  Writer writer;
  body(writer);
  return writer.json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

void read_object(const std::string& text, const std::string& name,
                 const std::function<void(FieldArchive&)>& body) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) throw ProtocolError(name + ": not JSON");
  Reader reader(json, name);
  body(reader);
}

}  // namespace jabas
