#include "spank_plugin/jabasd/price_source.h"

#include <cerrno>
#include <fstream>
#include <sstream>
#include <utility>

#include "allocator/error.h"
#include "spank_plugin/jabasd/http_client.h"
#include "spank_plugin/jabasd/run_keys.h"

namespace jabas {
namespace {

bool is_url(const std::string& source) {
  return source.rfind("http://", 0) == 0 || source.rfind("https://", 0) == 0;
}

std::string read_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) throw IoError("cannot read the prices", path, errno);
  return text.str();
}

std::string fetch(const std::string& source, std::chrono::milliseconds deadline) {
  if (!is_url(source)) return read_file(source);
  const HttpAnswer answer = http_get(source, deadline);
  if (!answer.ok) throw InputError("prices: " + answer.problem);
  return answer.text;
}

}  // namespace

PriceSource::PriceSource(std::string source, std::string kept_path,
                         std::chrono::milliseconds deadline)
    : source_(std::move(source)), kept_path_(std::move(kept_path)), deadline_(deadline) {}

PriceReading PriceSource::read(const std::vector<std::string>& types) {
  if (source_.empty()) return {builtin_prices(types), ""};
  std::string problem;
  try {
    const std::string text = fetch(source_, deadline_);
    PriceReading reading{parse_prices(text, source_), ""};
    if (text != read_small_file(kept_path_)) write_private_file(kept_path_, text);
    return reading;
  } catch (const Error& error) {
    problem = error.what();
  }
  const std::string kept = read_small_file(kept_path_);
  if (kept.empty()) throw InputError(problem + "; no earlier prices are known");
  return {parse_prices(kept, source_), problem + "; the last good prices stay in use"};
}

}  // namespace jabas
