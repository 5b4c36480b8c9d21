#include "allocator/sim_table.h"

#include <CLI/CLI.hpp>

namespace jabas::sim {

std::size_t result_column(CsvTable* table, const std::string& name) {
  if (!table->has(name)) return table->add_column(name);
  const std::size_t column = table->column(name);
  for (std::size_t row = 0; row < table->rows(); ++row) table->set(row, column, std::string());
  return column;
}

void add_output_option(CLI::App& command, std::string* path) {
  *path = "-";
  command.add_option("-o,--output", *path, "File to write; standard output unless given");
}

}  // namespace jabas::sim
