// Turns good input into bad input: changes the text's bytes, or, for JSON, its values and shape.
#pragma once

#include <random>
#include <string>

namespace jabas::fuzz {

using Random = std::mt19937_64;

// Some bytes changed, removed, repeated, or the end cut off.
std::string mutate_text(std::string text, Random& random);
// A value, key or element, sometimes two, replaced by a hostile one; the result is JSON.
std::string mutate_json(const std::string& text, Random& random);
// One to four cells or lines of a comma-separated table.
std::string mutate_csv(const std::string& text, Random& random);

}  // namespace jabas::fuzz
