// Fetches one small text over HTTP(S).   Threads: safe to call from several.   Errors: values.
#pragma once

#include <chrono>
#include <string>

namespace jabas {

struct HttpAnswer {
  bool ok = false;
  std::string text;     // when ok
  std::string problem;  // else, one line naming the URL
};

// At most 1 MiB, at most `deadline`, at most 3 redirects; http and https only.
HttpAnswer http_get(const std::string& url, std::chrono::milliseconds deadline);

}  // namespace jabas
