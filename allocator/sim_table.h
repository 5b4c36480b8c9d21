// What the subcommands of jabas-sim that work on a table of cases have in common.
#pragma once

#include <string>

#include "allocator/csv_table.h"

namespace CLI {
class App;
}

namespace jabas::sim {

// A column for results: a new last one, or the one of this name, emptied. So a file of known
// answers can be given as it is and be compared with what comes out.
std::size_t result_column(CsvTable* table, const std::string& name);

// -o,--output FILE; "-", standard output, unless given. `path` must outlive the parsing.
void add_output_option(CLI::App& command, std::string* path);

}  // namespace jabas::sim
