// One journal record, read leniently: what is absent or null has a fallback, since journals in
// progress and of other versions of the daemon are read too; a value of another type is an error.
// (JsonReader is the strict one, for files that people write.)
// Ownership: copies share one parsed document.
// Errors:    InputError "FILE: line N: key "K": found …, accepted is …".
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace jabas::acct {

class Record {
 public:
  // `where` starts every error.
  static Record parse(const std::string& line, const std::string& where);

  bool has(const char* key) const;  // and not null
  double number(const char* key, double fallback = 0) const;
  std::int64_t count(const char* key) const;
  int integer(const char* key) const;
  bool flag(const char* key) const;
  std::string text(const char* key) const;  // job ids may be numbers
  std::map<std::string, int> counts(const char* key) const;
  std::map<std::string, double> numbers(const char* key) const;
  std::vector<std::string> texts(const char* key) const;
  std::vector<std::vector<int>> rows(const char* key) const;  // lists of whole numbers
  Record object(const char* key) const;                       // empty when absent
  std::vector<Record> objects(const char* key) const;

  void require(const char* key) const;
  [[noreturn]] void fail(const char* key, const std::string& accepted) const;

 private:
  struct Node;
  explicit Record(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

}  // namespace jabas::acct
