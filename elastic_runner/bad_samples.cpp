#include "elastic_runner/bad_samples.h"

#include <cstdio>

namespace jabas {

void BadSamples::add(const std::string& text) {
  if (!skip_) throw InputError(text);
  if (count_++ == 0) first_ = text;
}

void BadSamples::announce_replacement(const std::string& text) const {
  const std::int64_t count = ++replaced_;
  std::int64_t power = 1;
  while (power < count) power *= 10;
  if (power != count) return;
  std::fprintf(stderr, "warning: %s; the sample after it is read instead (%lld so far)\n",
               text.c_str(), static_cast<long long>(count));
}

}  // namespace jabas
