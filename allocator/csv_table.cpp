#include "allocator/csv_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "allocator/error.h"
#include "allocator/option_text.h"
#include "allocator/text_file.h"

namespace jabas {
namespace {

constexpr std::size_t kShownCharacters = 60;

// For an error line: quoted, shortened, without control characters.
std::string shown(const std::string& text) {
  std::string result = text.substr(0, kShownCharacters);
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c >= 0 && (c < ' ' || c == 127); }, '?');
  return "'" + result + (text.size() > kShownCharacters ? "…'" : "'");
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string result = "\"";
  for (const char c : cell) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

void append_record(const std::vector<std::string>& cells, std::string* text) {
  for (std::size_t i = 0; i < cells.size(); ++i) *text += (i == 0 ? "" : ",") + quoted(cells[i]);
  // A lone empty cell would read back as an empty line.
  if (cells.size() == 1 && cells[0].empty()) *text += "\"\"";
  *text += '\n';
}

// Splits a text into records of cells and knows the line at which each began.
class CsvParser {
 public:
  CsvParser(const std::string& text, const std::string& name) : text_(text), name_(name) {
    if (text_.compare(0, 3, "\xEF\xBB\xBF") == 0) at_ = 3;
  }

  // The next record that is not an empty line; false at the end.
  bool next(std::vector<std::string>* cells) {
    while (take_line_end()) {
    }
    if (at_ >= text_.size()) return false;
    cells->clear();
    record_line_ = line_;
    do cells->push_back(cell());
    while (take(','));
    if (at_ < text_.size() && !take_line_end())
      fail("there is text after the closing quote of cell " + std::to_string(cells->size()));
    return true;
  }
  std::size_t record_line() const { return record_line_; }

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(name_ + ": line " + std::to_string(record_line_) + ": " + what);
  }

 private:
  bool take(char wanted) {
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  bool at_line_end() const { return text_[at_] == '\n' || text_.compare(at_, 2, "\r\n") == 0; }
  bool take_line_end() {
    if (at_ >= text_.size() || !at_line_end()) return false;
    at_ += text_[at_] == '\n' ? 1 : 2;
    ++line_;
    return true;
  }

  std::string cell() {
    if (take('"')) return quoted_cell();
    const std::size_t from = at_;
    while (at_ < text_.size() && text_[at_] != ',' && !at_line_end()) ++at_;
    return text_.substr(from, at_ - from);
  }
  std::string quoted_cell() {
    std::string cell;
    for (; at_ < text_.size(); ++at_) {
      if (take('"') && (at_ >= text_.size() || text_[at_] != '"')) return cell;
      if (text_[at_] == '\n') ++line_;
      cell += text_[at_];
    }
    fail("a quote is not closed");
  }

  const std::string& text_;
  const std::string& name_;
  std::size_t at_ = 0, line_ = 1, record_line_ = 1;
};

// The whole cell as a number, spaces around it allowed.
template <typename Number>
bool parse_cell(const std::string& cell, Number* number) {
  const std::string text = trimmed(cell);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

CsvTable CsvTable::read(const std::string& path) {
  return parse(read_text_file(path, "the table"), path);
}

CsvTable CsvTable::parse(const std::string& text, const std::string& name) {
  CsvTable table(name, {});
  CsvParser parser(text, name);
  if (!parser.next(&table.columns_)) throw InputError(name + ": is empty: no header line");
  for (std::string& column : table.columns_) {
    column = trimmed(column);
    if (std::count(table.columns_.begin(), table.columns_.end(), column) > 1)
      parser.fail("column " + shown(column) + " is there twice");
  }
  for (std::vector<std::string> cells; parser.next(&cells);) {
    if (cells.size() != table.columns_.size())
      parser.fail("has " + std::to_string(cells.size()) + " cells where the header has " +
                  std::to_string(table.columns_.size()));
    table.cells_.push_back(std::move(cells));
    table.lines_.push_back(parser.record_line());
  }
  return table;
}

bool CsvTable::has(const std::string& column) const {
  return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
}

std::size_t CsvTable::column(const std::string& column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  if (found != columns_.end()) return std::size_t(found - columns_.begin());
  std::string present;
  for (const std::string& name : columns_) present += (present.empty() ? "" : ",") + name;
  throw InputError(name_ + ": column '" + column + "' is missing; the header has " +
                   shown(present));
}

const std::string& CsvTable::text(std::size_t row, std::size_t column) const {
  return cells_.at(row).at(column);
}

double CsvTable::number(std::size_t row, std::size_t column, double min, double max) const {
  double number = 0;
  if (!parse_cell(text(row, column), &number))
    fail(row, column, shown(text(row, column)) + " is not a number");
  // NaN fails every comparison.
  if (!(number >= min && number <= max)) {
    std::string accepted = "a finite number";
    if (min > std::numeric_limits<double>::lowest())
      accepted += " of at least " + shortest_text(min);
    if (max < std::numeric_limits<double>::max())
      accepted += (min > std::numeric_limits<double>::lowest() ? " and at most " : " of at most ") +
                  shortest_text(max);
    fail(row, column, shown(text(row, column)) + " is not accepted: must be " + accepted);
  }
  return number;
}

std::int64_t CsvTable::integer(std::size_t row, std::size_t column, std::int64_t min,
                               std::int64_t max) const {
  std::int64_t number = 0;
  if (!parse_cell(text(row, column), &number) || number < min || number > max)
    fail(row, column,
         shown(text(row, column)) + " is not accepted: must be a whole number, " +
             std::to_string(min) + ".." + std::to_string(max));
  return number;
}

void CsvTable::fail(std::size_t row, std::size_t column, const std::string& what) const {
  throw InputError(name_ + ": line " + std::to_string(lines_.at(row)) + ": " + columns_.at(column) +
                   ": " + what);
}

std::size_t CsvTable::add_column(const std::string& column) {
  if (has(column)) throw InputError(name_ + ": has a column '" + column + "' already");
  columns_.push_back(column);
  for (std::vector<std::string>& row : cells_) row.emplace_back();
  return columns_.size() - 1;
}

void CsvTable::add_row(std::vector<std::string> cells) {
  JABAS_ASSERT(cells.size() == columns_.size(), "a row has one cell for each column");
  cells_.push_back(std::move(cells));
  lines_.push_back(lines_.empty() ? 2 : lines_.back() + 1);
}

void CsvTable::set(std::size_t row, std::size_t column, const std::string& text) {
  cells_.at(row).at(column) = text;
}

void CsvTable::set(std::size_t row, std::size_t column, double number) {
  set(row, column, shortest_text(number));
}

std::string CsvTable::to_text() const {
  std::string text;
  append_record(columns_, &text);
  for (const std::vector<std::string>& row : cells_) append_record(row, &text);
  return text;
}

}  // namespace jabas
