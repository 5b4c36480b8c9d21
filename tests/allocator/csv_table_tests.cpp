#include <boost/test/unit_test.hpp>
#include <fstream>
#include <random>

#include "allocator/csv_table.h"
#include "allocator/error.h"
#include "allocator/option_text.h"
#include "tests/support/temp_dir.h"

namespace jabas {
namespace {

template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string parse_error(const std::string& text) {
  return error_of([&] { CsvTable::parse(text, "f.csv"); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(csv_table_tests)

BOOST_AUTO_TEST_CASE(cells_are_found_by_the_name_of_their_column) {
  const CsvTable table = CsvTable::parse("b,a\n2,1\n4,3\n", "f.csv");
  BOOST_TEST(table.rows() == 2u);
  BOOST_TEST(table.number(1, table.column("a")) == 3);
  BOOST_TEST(table.text(0, table.column("b")) == "2");
  BOOST_TEST(table.has("a"));
  BOOST_TEST(!table.has("c"));
}

BOOST_AUTO_TEST_CASE(line_ends_of_every_kind_a_mark_and_empty_lines) {
  for (const std::string text : {"a,b\r\n1,2\r\n\r\n3,4\r\n",
                                 "\xEF\xBB\xBF"
                                 "a,b\n1,2\n\n3,4",
                                 "\na, b \n1,2\n3,4\n\n"}) {
    const CsvTable table = CsvTable::parse(text, "f.csv");
    BOOST_REQUIRE(table.rows() == 2u);
    BOOST_TEST(table.text(1, table.column("b")) == "4");
    BOOST_TEST(table.columns().front() == "a");
  }
}

BOOST_AUTO_TEST_CASE(quoted_cells_keep_commas_quotes_and_line_ends) {
  const CsvTable table =
      CsvTable::parse("name,n\n\"a, \"\"b\"\"\nc\",1\n\"\",2\nplain,x\n", "f.csv");
  BOOST_TEST(table.text(0, 0) == "a, \"b\"\nc");
  BOOST_TEST(table.text(1, 0) == "");
  // The line of an error counts the line ends inside cells.
  BOOST_TEST(error_of([&] { table.number(2, 1); }) == "f.csv: line 5: n: 'x' is not a number");
}

BOOST_AUTO_TEST_CASE(what_is_written_reads_back_the_same) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  const std::string letters = "ab,\"\n\r 1";
  for (int round = 0; round < 300; ++round) {
    const int columns = 1 + int(random() % 4), rows = int(random() % 5);
    std::string header;
    for (int c = 0; c < columns; ++c) header += (c ? ",c" : "c") + std::to_string(c);
    std::string body;
    for (int r = 0; r < rows; ++r) body += std::string(std::size_t(columns - 1), ',') + "\"\"\n";
    CsvTable table = CsvTable::parse(header + "\n" + body, "f.csv");
    BOOST_REQUIRE(table.rows() == std::size_t(rows));
    for (std::size_t r = 0; r < table.rows(); ++r)
      for (std::size_t c = 0; c < table.columns().size(); ++c) {
        std::string cell;
        for (unsigned n = random() % 6; n > 0; --n) cell += letters[random() % letters.size()];
        table.set(r, c, cell);
      }
    const CsvTable again = CsvTable::parse(table.to_text(), "f.csv");
    BOOST_REQUIRE(again.rows() == table.rows());
    for (std::size_t r = 0; r < table.rows(); ++r)
      for (std::size_t c = 0; c < table.columns().size(); ++c)
        BOOST_REQUIRE_EQUAL(again.text(r, c), table.text(r, c));
  }
}

BOOST_AUTO_TEST_CASE(numbers_are_written_so_that_they_read_back_the_same) {
  for (const double number : {0.1, 1.0 / 3, 512.0, 1e300, -2.5e-7, 0.1 + 0.2}) {
    CsvTable table = CsvTable::parse("a\n1\n", "f.csv");
    table.set(0, table.add_column("x"), number);
    const CsvTable again = CsvTable::parse(table.to_text(), "f.csv");
    BOOST_TEST(again.number(0, again.column("x")) == number);
  }
  BOOST_TEST(shortest_text(512) == "512");
  BOOST_TEST(shortest_text(0.1) == "0.1");
}

BOOST_AUTO_TEST_CASE(broken_files_are_named_with_their_line) {
  BOOST_TEST(parse_error("") == "f.csv: is empty: no header line");
  BOOST_TEST(parse_error("a,b,a\n") == "f.csv: line 1: column 'a' is there twice");
  BOOST_TEST(parse_error("a,b\n1,2\n\n3\n") == "f.csv: line 4: has 1 cells where the header has 2");
  BOOST_TEST(parse_error("a\n\"1\n") == "f.csv: line 2: a quote is not closed");
  BOOST_TEST(parse_error("a,b\n1,\"2\"x\n") ==
             "f.csv: line 2: there is text after the closing quote of cell 2");
}

BOOST_AUTO_TEST_CASE(broken_cells_are_named_with_line_column_and_value) {
  const CsvTable table =
      CsvTable::parse("n\nabc\n1.5\n \n12x\nnan\n-3\n1e999\n 7 \n9223372036854775808\n", "f.csv");
  const auto number = [&](std::size_t row) { return error_of([&] { table.number(row, 0, 0); }); };
  const auto integer = [&](std::size_t row) {
    return error_of([&] { table.integer(row, 0, 1, 9); });
  };
  BOOST_TEST(number(0) == "f.csv: line 2: n: 'abc' is not a number");
  BOOST_TEST(number(1) == "no error");
  BOOST_TEST(number(2) == "f.csv: line 4: n: ' ' is not a number");
  BOOST_TEST(number(3) == "f.csv: line 5: n: '12x' is not a number");
  BOOST_TEST(number(4) ==
             "f.csv: line 6: n: 'nan' is not accepted: must be a finite number of at least 0");
  BOOST_TEST(number(5) ==
             "f.csv: line 7: n: '-3' is not accepted: must be a finite number of at least 0");
  BOOST_TEST(number(6) == "f.csv: line 8: n: '1e999' is not a number");
  BOOST_TEST(integer(7) == "no error");
  BOOST_TEST(integer(1) == "f.csv: line 3: n: '1.5' is not accepted: must be a whole number, 1..9");
  BOOST_TEST(integer(8) ==
             "f.csv: line 10: n: '9223372036854775808' is not accepted: must be a "
             "whole number, 1..9");
}

BOOST_AUTO_TEST_CASE(missing_and_taken_columns) {
  CsvTable table = CsvTable::parse("a,b\n1,2\n", "f.csv");
  BOOST_TEST(error_of([&] { table.column("gbs"); }) ==
             "f.csv: column 'gbs' is missing; the header has 'a,b'");
  BOOST_TEST(error_of([&] { table.add_column("b"); }) == "f.csv: has a column 'b' already");
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_read) {
  BOOST_CHECK_THROW(CsvTable::read("/nowhere/f.csv"), IoError);
  const TempDir dir;
  BOOST_CHECK_THROW(CsvTable::read(dir.path()), IoError);
  std::ofstream(dir / "f.csv") << "a\n1\n";
  BOOST_TEST(CsvTable::read((dir / "f.csv").string()).number(0, 0) == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
