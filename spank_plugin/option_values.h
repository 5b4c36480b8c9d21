// Reads the values of single --jabas-* options; options.cpp adds the option's name and the accepted
// form to a problem.
//
// Units:  durations in seconds.
// Errors: each function returns the problem in words, "" on success; the result is written on
// success only.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allocator/option_text.h"
#include "spank_plugin/options.h"

namespace jabas {

// "v100:0-4,p100:2-2". known_types empty = types are not checked.
std::string read_gpus(std::string_view value, const std::vector<std::string>& known_types,
                      std::vector<TypeRange>* gpus);

// "4"; 1 … 1024.
std::string read_unit(std::string_view value, int* unit);

// "time[:EPS]", "cost", "balanced[:ALPHA]", "value:V", "deadline:T", "budget:X", "paper".
std::string check_objective(std::string_view value);

// "64-2048".
std::string read_batch(std::string_view value, long* min, long* max);

// minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS: sbatch's forms for --time.
std::string read_duration(std::string_view value, long* seconds);

// A file that can be read, or (urls) an http, https or file URL. check_files: look at the file
// itself.
std::string check_file(const std::string& value, bool urls, bool check_files);

// "" or what is wrong with one GPU type's name (also: unknown to the cluster).
std::string check_type(std::string_view type, const std::vector<std::string>& known_types);

}  // namespace jabas
