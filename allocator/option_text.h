// Reads the small texts that options and objectives are made of: numbers, lists, durations. Pure.
//
// Units: durations in seconds.   Errors: nothing is returned for a text that is not wholly one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jabas {

// Splits at `separator`, keeping empty parts.
std::vector<std::string_view> split(std::string_view text, char separator);

// Digits only: no sign, no blanks, nothing behind.
std::optional<long> whole_number(std::string_view text);
// Finite.
std::optional<double> real_number(std::string_view text);

// The shortest text that reads back as the same number (17 significant digits at most).
std::string shortest_text(double number);

// minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS: sbatch's forms for --time.
std::optional<long> slurm_duration_s(std::string_view text);
// The same in the last of these forms.
std::string to_duration_text(long seconds);
// One of these forms, or a real number with its unit: 90s, 45m, 1.5h.
std::optional<double> duration_s(std::string_view text);

}  // namespace jabas
