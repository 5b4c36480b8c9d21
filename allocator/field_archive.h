// Visits the named fields of a structure, to write them as a JSON object or to read them from one:
// one list of fields per type serves both ways. Used by control messages and the training
// specification.
//
// Text that is not UTF-8 (paths, environment values) and raw bytes survive: they travel as base64.
// Doubles that JSON cannot hold travel as "NaN", "Infinity", "-Infinity".
// Threads: one archive, one thread.
// Errors:  reading throws ProtocolError naming the key (with its path: "hello.spec.epochs"), what
// was found and what is
//          accepted, for a missing field, another type, or a number outside the range of the C++
//          type. Keys that are not asked for are ignored. Writing does not throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace jabas {

class FieldArchive {
 public:
  virtual ~FieldArchive() = default;
  virtual void field(const char* key, bool& value) = 0;
  virtual void field(const char* key, int& value) = 0;
  virtual void field(const char* key, std::int64_t& value) = 0;
  virtual void field(const char* key, std::uint64_t& value) = 0;
  virtual void field(const char* key, double& value) = 0;
  virtual void field(const char* key, std::string& value) = 0;
  virtual void field(const char* key, std::vector<std::string>& value) = 0;
  virtual void field(const char* key, std::vector<int>& value) = 0;
  virtual void field(const char* key, std::vector<std::vector<int>>& value) = 0;
  virtual void field(const char* key, std::map<std::string, std::string>& value) = 0;
  virtual void field(const char* key, std::map<std::string, int>& value) = 0;
  // Raw bytes, always base64.
  virtual void bytes(const char* key, std::string& value) = 0;
  virtual void bytes(const char* key, std::vector<std::string>& value) = 0;
  // What later error messages call this object; nothing to writing.
  virtual void rename(const std::string& name) = 0;
  // A structure inside this one.
  virtual void object(const char* key, const std::function<void(FieldArchive&)>& body) = 0;

  // A list of structures; `body(archive, element)` visits one.
  template <typename Element, typename Body>
  void objects(const char* key, std::vector<Element>& value, Body body) {
    object_list(
        key, [&](std::size_t size) { value.resize(size); }, value.size(),
        [&](FieldArchive& archive, std::size_t i) { body(archive, value[i]); });
  }

 protected:
  // Reading calls `resize` with the number found; writing takes `size`.
  virtual void object_list(const char* key, const std::function<void(std::size_t)>& resize,
                           std::size_t size,
                           const std::function<void(FieldArchive&, std::size_t)>& body) = 0;
};

// The JSON object that `body` describes, on one line.
std::string write_object(const std::function<void(FieldArchive&)>& body);
// Calls `body` on the object in `text`; `name` starts the path in error messages.
void read_object(const std::string& text, const std::string& name,
                 const std::function<void(FieldArchive&)>& body);

}  // namespace jabas
