// Reads a JSON object strictly: every key is asked for by name, checked, and keys nobody asked for
// are errors. Used for every file and state a person may have written. The JSON library stays
// inside json_reader.cpp. Errors: InputError "NAME: PATH: what is wrong, what is accepted" for
// broken JSON, a missing key, a wrong type, a value
//         out of range, a non-finite number (also written as NaN or Infinity), more than 64 levels
//         of nesting, or (from finish) an unknown key.
// Ownership: copies share one parsed document.   Threads: const members are safe to share, the
// others are not.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace jabas {

class JsonReader {
 public:
  // `name` is what the user knows the text by (a file name); it starts every error.
  static JsonReader parse(const std::string& text, const std::string& name);

  bool has(const std::string& key) const;
  std::vector<std::string> keys() const;

  double number(const std::string& key, double min = 0,
                double max = std::numeric_limits<double>::max());
  double number_or(const std::string& key, double fallback, double min = 0,
                   double max = std::numeric_limits<double>::max());
  std::int64_t integer(const std::string& key, std::int64_t min, std::int64_t max);
  std::int64_t integer_or(const std::string& key, std::int64_t fallback, std::int64_t min,
                          std::int64_t max);
  std::string text(const std::string& key);
  std::string text_or(const std::string& key, const std::string& fallback);
  bool flag_or(const std::string& key, bool fallback);
  JsonReader object(const std::string& key);
  std::vector<JsonReader> objects(const std::string& key);  // array of objects
  // An array of numbers in [0, max].
  std::vector<double> numbers(const std::string& key,
                              double max = std::numeric_limits<double>::max());
  std::vector<std::string> texts(const std::string& key);
  // An array of [x, y], both in [0, max].
  std::vector<std::pair<double, double>> pairs(const std::string& key,
                                               double max = std::numeric_limits<double>::max());

  // The object as JSON text, for a reader of its own.
  std::string dump() const;
  // Call when all known keys have been read.
  void finish() const;
  // Throws InputError for `key` of this object.
  [[noreturn]] void fail(const std::string& key, const std::string& what) const;

 private:
  struct Node;
  explicit JsonReader(std::shared_ptr<Node> node) : node_(std::move(node)) {}
  std::shared_ptr<Node> node_;
};

}  // namespace jabas
