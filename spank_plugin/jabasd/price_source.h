// Where the prices of GPUs come from: a file, a URL, or the built-in table. Read again at every
// decision; a reading that fails keeps the last good list and says so. The last good list is also
// kept in a file, for a restarted daemon. Threads: one call at a time (it blocks up to the URL's
// time-out). Errors: InputError only when there is no list at all, neither read now nor kept.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "allocator/cost_model.h"

namespace jabas {

struct PriceReading {
  PriceList prices;
  std::string warning;  // "" or why an older list is used
};

class PriceSource {
 public:
  // `source`: file or http(s) URL, "" = built-in. `kept_path`: where the last good text is kept.
  PriceSource(std::string source, std::string kept_path,
              std::chrono::milliseconds deadline = std::chrono::seconds(5));
  // `types` matter only for the built-in table.
  PriceReading read(const std::vector<std::string>& types);

 private:
  std::string source_, kept_path_;
  std::chrono::milliseconds deadline_;
};

}  // namespace jabas
