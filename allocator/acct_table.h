// Fields and tables as sacct has them: names matched by prefix, %N widths, fixed or parsable
// output. Errors: choose_columns throws UsageError with sacct's text for an unknown field or a bad
// width.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace jabas::acct {

struct FieldInfo {
  std::string name;
  int width = 10;  // negative: left-justified
};

// What a table is made of: its fields in order (a prefix means the first that matches), and the
// list shown when none is asked for.
struct Column {
  std::size_t field = 0;  // index into the fields
  int width = 10;
};

// "jobid,epoch%6,reason%-40,ALL": case-insensitive, leading blanks skipped.
std::vector<Column> choose_columns(const std::string& format, const std::vector<FieldInfo>& fields);
// The names, four a line.
void print_field_names(std::ostream& out, const std::vector<FieldInfo>& fields);

enum class TableStyle {
  kFixed,      // columns of fixed width, a longer value ends in '+'
  kParsable,   // delimiter after every field
  kParsable2,  // delimiter between fields
};

class Table {
 public:
  Table(std::ostream& out, const std::vector<FieldInfo>& fields, std::vector<Column> columns,
        TableStyle style, std::string delimiter);
  void header() const;
  // One value per column.
  void row(const std::vector<std::string>& values) const;

 private:
  std::string cell(const std::string& value, int width) const;
  void line(const std::vector<std::string>& cells) const;

  std::ostream& out_;
  const std::vector<FieldInfo>& fields_;
  std::vector<Column> columns_;
  TableStyle style_;
  std::string delimiter_;
};

// Characters, not bytes.
std::size_t display_width(const std::string& text);
// `value` of `most` as a bar of at most `width` characters: "██████▌".
std::string bar(double value, double most, int width);

}  // namespace jabas::acct
