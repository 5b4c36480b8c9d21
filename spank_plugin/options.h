// The --jabas-* options: names, help, parsing and validation. Pure C++ and libc only: it is
// compiled into spank_jabas.so and into jabasd.
//
// Errors: parse_option returns the one-line message for the user, "" on success. It never throws.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jabas {

struct TypeRange {
  std::string type;
  int min = 0, max = 0;
};

struct Options {
  bool on = false;  // --jabas-gpus was given
  std::vector<TypeRange> gpus;
  int unit = 1;
  std::string objective = "time";     // validated text, see allocator/scaling_policy.h
  long batch_min = 0, batch_max = 0;  // 0 = not given
  std::string prices;                 // file or URL; "" = built-in
  std::string profile;                // file; "" = JABAS_PROFILE or none
  long wait_s = 0;                    // how long a GPU may be waited for
  std::string state_dir;              // root; "" = $HOME/.jabas
  std::vector<std::pair<std::string, std::string>> member;  // type -> sbatch options
};

struct OptionInfo {
  const char* name;      // "jabas-gpus"
  const char* argument;  // "TYPE:MIN-MAX[,...]"
  const char* help;
};
const std::vector<OptionInfo>& option_table();

// Checks `value` for option `name` ("jabas-gpus") and stores it; checks it against what was given
// before, too (options come in any order). known_types: GPU types of the cluster, empty = unknown,
// then types are not checked. check_files: the price and profile files must be readable (at
// submission).
std::string parse_option(std::string_view name, std::string_view value,
                         const std::vector<std::string>& known_types, bool check_files,
                         Options* options);

// The canonical command line that gives the same Options again: {"--jabas-gpus=v100:0-4", …}; what
// jabasd is started with.
std::vector<std::string> to_arguments(const Options& options);

// Splits like a shell would (quotes, backslash, no expansion); returns false with *error for an
// open quote.
bool split_words(std::string_view text, std::vector<std::string>* words, std::string* error);

}  // namespace jabas
