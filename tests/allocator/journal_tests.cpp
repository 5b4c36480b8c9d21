#include <sys/stat.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "allocator/error.h"
#include "allocator/journal.h"
#include "tests/support/temp_dir.h"

using namespace jabas;

namespace {

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

struct Fixture {
  TempDir dir;
  std::string path = dir / "journal.jsonl";

  std::string three_records() {
    JournalWriter writer(path, 2);
    writer.append(1700000000.25, record::kJob, R"({"host":"n1","port":4000})");
    writer.set_run(1);
    writer.append(1700000001, record::kWarning, R"({"text":"two\nlines"})");
    writer.append(1700000002, record::kEnd, R"({"state":"completed","cost_usd":0.5})");
    return content(path);
  }
  std::string error() {
    try {
      read_journal(path);
    } catch (const InputError& caught) {
      return caught.what();
    }
    return "no error";
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(journal_tests, Fixture)

BOOST_AUTO_TEST_CASE(a_record_is_one_line_with_the_common_keys_first) {
  BOOST_TEST(three_records() ==
             "{\"v\":1,\"type\":\"job\",\"time\":1700000000.25,\"run\":0,\"restart\":2,"
             "\"host\":\"n1\",\"port\":4000}\n"
             "{\"v\":1,\"type\":\"warning\",\"time\":1700000001.0,\"run\":1,\"restart\":2,"
             "\"text\":\"two\\nlines\"}\n"
             "{\"v\":1,\"type\":\"end\",\"time\":1700000002.0,\"run\":1,\"restart\":2,"
             "\"state\":\"completed\",\"cost_usd\":0.5}\n");
  const JournalContent read = read_journal(path);
  BOOST_TEST(read.records.size() == 3u);
  BOOST_TEST(!read.torn_tail);
}

BOOST_AUTO_TEST_CASE(only_the_owner_may_read_it) {
  three_records();
  struct stat info {};
  BOOST_REQUIRE(::stat(path.c_str(), &info) == 0);
  BOOST_TEST((info.st_mode & 07777) == 0600u);
}

BOOST_AUTO_TEST_CASE(a_second_writer_goes_on_behind_the_first) {
  const std::string before = three_records();
  JournalWriter(path, 3).append(1700000009, record::kJob, "{}");
  BOOST_TEST(content(path).substr(0, before.size()) == before);
  BOOST_TEST(read_journal(path).records.size() == 4u);
}

// A crash can leave any prefix. Every complete record before it is read, and the next writer cuts
// the rest off.
BOOST_AUTO_TEST_CASE(every_truncation_is_read_and_repaired) {
  const std::string whole = three_records();
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const std::string text = whole.substr(0, length);
    const auto complete = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    const std::size_t good = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
    put(path, text);
    const JournalContent read = read_journal(path);
    BOOST_REQUIRE(read.records.size() == complete);
    BOOST_REQUIRE(read.torn_tail == (good < length));
    JournalWriter(path, 0).append(1, record::kWarning, "{}");
    BOOST_REQUIRE(content(path).substr(0, good) == whole.substr(0, good));
    BOOST_REQUIRE(read_journal(path).records.size() == complete + 1);
    BOOST_REQUIRE(!read_journal(path).torn_tail);
  }
}

// A flipped bit is either found, naming the line, or has changed a value inside one record; no
// record is lost silently.
BOOST_AUTO_TEST_CASE(every_flipped_byte_is_found_or_stays_inside_its_record) {
  const std::string whole = three_records();
  int found = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int mask : {0x01, 0x20, 0x80}) {
      std::string text = whole;
      text[at] = static_cast<char>(text[at] ^ mask);
      put(path, text);
      try {
        const JournalContent read = read_journal(path);
        // Without the newline before it the last record is part of the torn one.
        const std::size_t torn = !read.torn_tail                              ? 0
                                 : whole[at] == '\n' && at + 1 < whole.size() ? 2
                                                                              : 1;
        BOOST_REQUIRE(read.records.size() + torn == 3u);
        found += read.torn_tail ? 1 : 0;
      } catch (const InputError& error) {
        BOOST_REQUIRE(std::string(error.what()).find(path + ": line ") == 0);
        ++found;
      }
    }
  }
  BOOST_TEST(found > 300);
}

BOOST_AUTO_TEST_CASE(broken_lines_are_named) {
  const std::string whole = three_records();
  const std::string first = whole.substr(0, whole.find('\n') + 1);
  put(path, first + "nonsense\n" + first);
  BOOST_TEST(error() == path + ": line 2: not a JSON object");
  put(path, first + R"({"v":1,"time":1,"run":0,"restart":0})" + "\n" + first);
  BOOST_TEST(error() == path + ": line 2: no \"type\"");
  put(path, first + R"({"v":2,"type":"job"})" + "\n");
  BOOST_TEST(error() == path + ": line 2: journal version 2, this program reads 1");
  BOOST_CHECK_THROW(JournalWriter(path, 0), InputError);
}

BOOST_AUTO_TEST_CASE(a_missing_file_is_an_error_to_read_and_a_new_one_to_write) {
  const std::string other = dir / "none" / "journal.jsonl";
  BOOST_CHECK_THROW(read_journal(path), IoError);
  BOOST_CHECK_THROW(JournalWriter(other, 0), IoError);
  JournalWriter(path, 0);
  BOOST_TEST(read_journal(path).records.empty());
}

BOOST_AUTO_TEST_SUITE_END()
