#include "allocator/acct_table.h"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "allocator/error.h"

namespace jabas::acct {
namespace {

constexpr int kWidestColumn = 1000;

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The first `count` characters.
std::string first_characters(const std::string& text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!continues_character(text[at]) && count-- == 0) break;
  }
  return text.substr(0, at);
}

std::size_t find_field(const std::string& name, const std::vector<FieldInfo>& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!name.empty() && ::strncasecmp(fields[i].name.c_str(), name.c_str(), name.size()) == 0)
      return i;
  }
  throw UsageError("Invalid field requested: \"" + name + "\"");
}

int read_width(const std::string& text, const std::string& item) {
  int width = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
  if (error != std::errc() || end != text.data() + text.size() || width == 0 ||
      std::abs(width) > kWidestColumn) {
    throw UsageError("Invalid field width: \"" + item + "\"; accepted is %N or %-N, N from 1 to " +
                     std::to_string(kWidestColumn));
  }
  return width;
}

}  // namespace

std::vector<Column> choose_columns(const std::string& format,
                                   const std::vector<FieldInfo>& fields) {
  std::vector<Column> columns;
  std::istringstream items(format);
  for (std::string item; std::getline(items, item, ',');) {
    item.erase(0, item.find_first_not_of(" \t"));
    const std::size_t percent = item.find('%');
    const std::string name = item.substr(0, percent);
    if (::strcasecmp(name.c_str(), "ALL") == 0) {
      for (std::size_t i = 0; i < fields.size(); ++i) columns.push_back({i, fields[i].width});
      continue;
    }
    const std::size_t field = find_field(name, fields);
    columns.push_back({field, percent == std::string::npos
                                  ? fields[field].width
                                  : read_width(item.substr(percent + 1), item)});
  }
  if (columns.empty()) throw UsageError("Invalid field requested: \"\"");
  return columns;
}

void print_field_names(std::ostream& out, const std::vector<FieldInfo>& fields) {
  constexpr std::size_t kPerLine = 4;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const bool last = (i + 1) % kPerLine == 0 || i + 1 == fields.size();
    if (last) {
      out << fields[i].name << '\n';
    } else {
      out << std::left << std::setw(17) << fields[i].name << ' ';
    }
  }
}

Table::Table(std::ostream& out, const std::vector<FieldInfo>& fields, std::vector<Column> columns,
             TableStyle style, std::string delimiter)
    : out_(out),
      fields_(fields),
      columns_(std::move(columns)),
      style_(style),
      delimiter_(std::move(delimiter)) {}

std::string Table::cell(const std::string& value, int width) const {
  if (style_ != TableStyle::kFixed) return value;
  const auto room = static_cast<std::size_t>(std::abs(width));
  const std::size_t length = display_width(value);
  if (length > room) return first_characters(value, room - 1) + "+";
  const std::string padding(room - length, ' ');
  return width < 0 ? value + padding : padding + value;
}

void Table::line(const std::vector<std::string>& cells) const {
  const bool after_each = style_ != TableStyle::kParsable2;
  const std::string separator = style_ == TableStyle::kFixed ? " " : delimiter_;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    out_ << cells[i];
    if (after_each || i + 1 < cells.size()) out_ << separator;
  }
  out_ << '\n';
}

void Table::header() const {
  std::vector<std::string> names, dashes;
  for (const Column& column : columns_) {
    const std::string& name = fields_[column.field].name;
    const auto room = static_cast<std::size_t>(std::abs(column.width));
    const bool fixed = style_ == TableStyle::kFixed;
    names.push_back(cell(fixed ? first_characters(name, room) : name, column.width));
    dashes.emplace_back(room, '-');
  }
  line(names);
  if (style_ == TableStyle::kFixed) line(dashes);
}

void Table::row(const std::vector<std::string>& values) const {
  JABAS_ASSERT(values.size() == columns_.size(), "one value per column");
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < values.size(); ++i) {
    cells.push_back(cell(values[i], columns_[i].width));
  }
  line(cells);
}

std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

std::string bar(double value, double most, int width) {
  static const char* const kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (!(value > 0) || !(most > 0)) return "";
  const auto eighths = static_cast<int>(std::lround(std::min(1.0, value / most) * width * 8));
  std::string text;
  for (int i = 0; i < eighths / 8; ++i) text += "█";
  return text + kEighths[eighths % 8];
}

}  // namespace jabas::acct
