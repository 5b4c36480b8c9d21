#include <boost/test/unit_test.hpp>
#include <sstream>
#include <string>

#include "allocator/acct_table.h"
#include "allocator/error.h"

using namespace jabas::acct;

namespace {

const std::vector<FieldInfo> kFields = {
    {"JobID", -8}, {"Epoch", 5}, {"Reason", -10}, {"Restart", 7}};

std::string chosen(const std::string& format) {
  std::string text;
  try {
    for (const Column& column : choose_columns(format, kFields)) {
      text += kFields[column.field].name + "%" + std::to_string(column.width) + " ";
    }
  } catch (const jabas::UsageError& error) {
    return error.what();
  }
  return text;
}

std::string printed(const std::string& format, TableStyle style,
                    const std::vector<std::string>& row, const std::string& delimiter = "|") {
  std::ostringstream out;
  const Table table(out, kFields, choose_columns(format, kFields), style, delimiter);
  table.header();
  table.row(row);
  return out.str();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(acct_table_tests)

BOOST_AUTO_TEST_CASE(fields_are_chosen_as_in_sacct) {
  BOOST_TEST(chosen("jobid,EPOCH") == "JobID%-8 Epoch%5 ");
  BOOST_TEST(chosen("re") == "Reason%-10 ");  // the first that matches
  BOOST_TEST(chosen("res, e%12,jobid%-3") == "Restart%7 Epoch%12 JobID%-3 ");
  BOOST_TEST(chosen("all") == "JobID%-8 Epoch%5 Reason%-10 Restart%7 ");
  BOOST_TEST(chosen("x") == "Invalid field requested: \"x\"");
  BOOST_TEST(chosen("jobid,,epoch") == "Invalid field requested: \"\"");
  BOOST_TEST(chosen("epochs") == "Invalid field requested: \"epochs\"");
  BOOST_TEST(chosen("epoch%0") ==
             "Invalid field width: \"epoch%0\"; accepted is %N or %-N, N from 1 to 1000");
  BOOST_TEST(chosen("epoch%wide") ==
             "Invalid field width: \"epoch%wide\"; accepted is %N or %-N, N from 1 to 1000");
}

BOOST_AUTO_TEST_CASE(fixed_columns_pad_and_cut) {
  BOOST_TEST(printed("jobid,epoch,reason", TableStyle::kFixed, {"123", "4", "a long reason"}) ==
             "JobID    Epoch Reason     \n"
             "-------- ----- ---------- \n"
             "123          4 a long re+ \n");
  BOOST_TEST(printed("jobid%3", TableStyle::kFixed, {"12345"}) == "Job \n--- \n12+ \n");
}

BOOST_AUTO_TEST_CASE(width_counts_characters_not_bytes) {
  BOOST_TEST(printed("reason%-6", TableStyle::kFixed, {"2×v → 3"}) ==
             "Reason \n------ \n2×v →+ \n");
  BOOST_TEST(printed("reason%7", TableStyle::kFixed, {"1×→"}) == " Reason \n------- \n    1×→ \n");
  BOOST_TEST(display_width("2×v → 3") == 7u);
}

BOOST_AUTO_TEST_CASE(parsable_output_is_neither_padded_nor_cut) {
  const std::vector<std::string> row = {"123", "", "a long | reason"};
  BOOST_TEST(printed("jobid,epoch,reason", TableStyle::kParsable, row) ==
             "JobID|Epoch|Reason|\n123||a long | reason|\n");
  BOOST_TEST(printed("jobid,epoch,reason", TableStyle::kParsable2, row) ==
             "JobID|Epoch|Reason\n123||a long | reason\n");
  BOOST_TEST(printed("jobid,epoch,reason", TableStyle::kParsable2, row, ";;") ==
             "JobID;;Epoch;;Reason\n123;;;;a long | reason\n");
}

BOOST_AUTO_TEST_CASE(names_are_listed_four_a_line) {
  std::ostringstream out;
  print_field_names(out, {{"A"}, {"B"}, {"C"}, {"D"}, {"E"}});
  BOOST_TEST(out.str() == "A                 B                 C                 D\nE\n");
}

BOOST_AUTO_TEST_CASE(bars_grow_with_their_value) {
  BOOST_TEST(bar(0, 10, 4) == "");
  BOOST_TEST(bar(10, 10, 4) == "████");
  BOOST_TEST(bar(5, 10, 4) == "██");
  BOOST_TEST(bar(6, 10, 4) == "██▍");
  BOOST_TEST(bar(20, 10, 2) == "██");
  BOOST_TEST(bar(1, 0, 2) == "");
}

BOOST_AUTO_TEST_SUITE_END()
