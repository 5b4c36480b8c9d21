// What jabas-fuzz feeds to whom.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/fuzz/mutate.h"

namespace jabas::fuzz {

struct Target {
  std::string name;
  std::function<std::string(Random&)> make;     // one broken input
  std::function<void(const std::string&)> use;  // reads it and, if it is accepted, works with it
};

std::vector<Target> targets();

}  // namespace jabas::fuzz
