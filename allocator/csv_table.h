// A CSV file with a header line: cells by row and column name, order of columns free, columns can
// be added and the whole written again. RFC 4180: quoted cells ("" is one quote, commas and line
// ends inside), LF or CRLF, an UTF-8 byte order mark is skipped, empty lines are skipped. Errors:
// IoError when the file cannot be read; InputError naming file, line, column, value
//         and what is accepted.
// Threads: const members are safe to share.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace jabas {

class CsvTable {
 public:
  static CsvTable read(const std::string& path);
  // `name` is what the user knows the text by (a file name); it starts every error.
  static CsvTable parse(const std::string& text, const std::string& name);
  // Without rows; `name` as above.
  CsvTable(std::string name, std::vector<std::string> columns)
      : name_(std::move(name)), columns_(std::move(columns)) {}

  const std::string& name() const { return name_; }
  const std::vector<std::string>& columns() const { return columns_; }
  std::size_t rows() const { return cells_.size(); }
  bool has(const std::string& column) const;
  // Index of a column that must be there.
  std::size_t column(const std::string& column) const;

  const std::string& text(std::size_t row, std::size_t column) const;
  double number(std::size_t row, std::size_t column,
                double min = std::numeric_limits<double>::lowest(),
                double max = std::numeric_limits<double>::max()) const;
  std::int64_t integer(std::size_t row, std::size_t column, std::int64_t min,
                       std::int64_t max) const;
  // Throws InputError for this cell: "FILE: line L: COLUMN: what".
  [[noreturn]] void fail(std::size_t row, std::size_t column, const std::string& what) const;

  // A new last column with empty cells; an error if the name is taken.
  std::size_t add_column(const std::string& column);
  // A new last row: one cell for each column.
  void add_row(std::vector<std::string> cells);
  void set(std::size_t row, std::size_t column, const std::string& text);
  void set(std::size_t row, std::size_t column, double number);

  // With LF line ends; cells are quoted where they must be.
  std::string to_text() const;

 private:
  std::string name_;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> cells_;
  std::vector<std::size_t> lines_;  // of the file, where each row begins
};

}  // namespace jabas
