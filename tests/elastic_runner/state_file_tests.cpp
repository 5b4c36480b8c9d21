#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "allocator/error.h"
#include "elastic_runner/state_file.h"
#include "tests/support/temp_dir.h"

namespace jabas {
namespace {

namespace fs = std::filesystem;

struct Fixture {
  std::vector<StateTensor> tensors() {
    return {{"weight/a", "F32", {2, 3}, weights, sizeof weights},
            {"momentum/a", "F64", {2}, momentum, sizeof momentum},
            {"buffer/n", "I64", {}, &count, sizeof count}};
  }
  void write() { write_safetensors(path, tensors(), {{"step", "12"}, {"text", "a \"b\""}}); }
  std::string bytes() const {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  void replace(const std::string& content) const {
    std::ofstream(path, std::ios::binary) << content;
  }
  // The error's text after "<path>: ".
  std::string error(const std::vector<StateTensor>& expected) const {
    try {
      read_safetensors(path, expected);
    } catch (const InputError& failure) {
      const std::string text = failure.what();
      return text.starts_with(path + ": ") ? text.substr(path.size() + 2)
                                           : "path missing in: " + text;
    }
    return "";
  }

  TempDir directory;
  std::string path = (directory / "state.safetensors").string();
  float weights[6] = {1, 2, 3, -4, 5.5f, 1e-30f};
  double momentum[2] = {0.1, -1e300};
  std::int64_t count = 42;
};

std::string with_header(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(state_file_tests, Fixture)

BOOST_AUTO_TEST_CASE(returns_what_was_written) {
  write();
  const Fixture written;
  std::memset(weights, 0, sizeof weights);
  std::memset(momentum, 0, sizeof momentum);
  count = 0;
  const auto metadata = read_safetensors(path, tensors());
  BOOST_TEST(std::memcmp(weights, written.weights, sizeof weights) == 0);
  BOOST_TEST(std::memcmp(momentum, written.momentum, sizeof momentum) == 0);
  BOOST_TEST(count == 42);
  BOOST_TEST(metadata.at("step") == "12");
  BOOST_TEST(metadata.at("text") == "a \"b\"");
}

BOOST_AUTO_TEST_CASE(is_laid_out_as_the_format_says) {
  write_safetensors(path, {{"w", "I64", {1}, &count, sizeof count}}, {});
  const std::string header = R"({"w":{"data_offsets":[0,8],"dtype":"I64","shape":[1]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  BOOST_TEST(bytes() == with_header(padded, std::string("\x2a\0\0\0\0\0\0\0", 8)));
}

BOOST_AUTO_TEST_CASE(leaves_no_temporary_file_and_replaces_the_old_one) {
  write();
  count = 43;
  write();
  count = 0;
  read_safetensors(path, tensors());
  BOOST_TEST(count == 43);
  BOOST_TEST(std::distance(fs::directory_iterator(directory.path()), fs::directory_iterator()) ==
             1);
}

BOOST_AUTO_TEST_CASE(every_truncation_is_an_input_error_and_changes_nothing) {
  write();
  const std::string whole = bytes();
  count = 7;
  weights[0] = 99;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    replace(whole.substr(0, length));
    BOOST_CHECK_THROW(read_safetensors(path, tensors()), InputError);
  }
  BOOST_TEST(count == 7);
  BOOST_TEST(weights[0] == 99);
}

BOOST_AUTO_TEST_CASE(truncations_say_so) {
  write();
  const std::string whole = bytes();
  replace(whole.substr(0, 5));
  BOOST_TEST(error(tensors()) == "truncated: no header length");
  replace(whole.substr(0, 20));
  BOOST_TEST(error(tensors()).starts_with("truncated or not safetensors: header of "),
             error(tensors()));
  replace(whole.substr(0, whole.size() - 1));
  BOOST_TEST(error(tensors()) == "truncated: buffer/n ends after the end of the file");
}

BOOST_AUTO_TEST_CASE(other_content_than_expected_is_named) {
  write();
  auto expected = tensors();
  expected[0].name = "weight/b";
  BOOST_TEST(error(expected) == "has no tensor weight/b");
  expected = tensors();
  expected[1].dtype = "F32";
  BOOST_TEST(error(expected) == "momentum/a is F64, expected F32");
  expected = tensors();
  expected[0].shape = {3, 2};
  BOOST_TEST(error(expected) == "weight/a has shape [2,3], expected [3,2]");
}

BOOST_AUTO_TEST_CASE(a_bad_header_is_named) {
  const std::vector<StateTensor> expected = {{"w", "I64", {1}, &count, sizeof count}};
  const auto error_of = [&](const std::string& header) {
    replace(with_header(header, std::string(8, '\0')));
    return error(expected);
  };
  BOOST_TEST(error_of("{\"w\":") == "bad header: not a JSON object");
  BOOST_TEST(error_of("[1]") == "bad header: not a JSON object");
  BOOST_TEST(error_of("{\"w\":3}") == "bad header: entry of w is not {dtype, shape, data_offsets}");
  BOOST_TEST(error_of(R"({"w":{"dtype":"I64","shape":[1],"data_offsets":[0,4]}})") ==
             "bad header: data_offsets of w do not hold 8 bytes");
  BOOST_TEST(error_of(R"({"w":{"dtype":"I64","shape":[1],"data_offsets":[8,0]}})") ==
             "bad header: data_offsets of w do not hold 8 bytes");
  BOOST_TEST(error_of(R"({"w":{"dtype":"I64","shape":[1],"data_offsets":[8,16]}})") ==
             "truncated: w ends after the end of the file");
  BOOST_TEST(error_of(R"({"__metadata__":{"a":1},"w":{}})") ==
             "bad header: __metadata__.a is not a string");
  BOOST_TEST(error_of(R"({"w":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})") == "");
}

BOOST_AUTO_TEST_CASE(a_missing_file_and_an_unwritable_directory_are_named) {
  BOOST_TEST(error(tensors()) == "cannot be opened: No such file or directory");
  const std::string nowhere = (directory / "none/x").string();
  BOOST_CHECK_EXCEPTION(
      write_safetensors(nowhere, tensors(), {}), IoError, [&](const IoError& failure) {
        return std::string(failure.what()) == "cannot create: " + nowhere + ".tmp." +
                                                  std::to_string(::getpid()) +
                                                  ": No such file or directory";
      });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
