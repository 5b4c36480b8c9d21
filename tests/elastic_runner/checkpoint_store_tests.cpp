#include <boost/test/unit_test.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "allocator/error.h"
#include "elastic_runner/checkpoint_store.h"
#include "elastic_runner/checkpoint_writer.h"
#include "elastic_runner/checksum.h"
#include "tests/support/temp_dir.h"

using namespace jabas;
namespace fs = std::filesystem;

namespace {

constexpr char kIdentity[] = "model mlp, data set x, 10 samples, fp32, sgd, seed 0";

struct Weights {
  std::vector<float> values = std::vector<float>(100, 0);
  std::vector<StateTensor> tensors() {
    return {{"weight/w",
             "F32",
             {std::int64_t(values.size())},
             values.data(),
             values.size() * sizeof(float)}};
  }
};

RunState at_step(std::int64_t step) {
  RunState state;
  state.generation = 3;
  state.epoch = 2;
  state.step = step;
  state.local_batch = 32;
  state.virtual_workers = 4;
  state.adaptive.wanted_batch = 130.5;
  return state;
}

std::string write(const std::string& directory, Weights& weights, std::int64_t step, int keep = 5) {
  weights.values.assign(100, float(step));
  return CheckpointStore(directory, keep).write(weights.tensors(), at_step(step), kIdentity);
}

void flip_byte(const std::string& path, std::streamoff offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(offset);
  char byte = 0;
  file.get(byte);
  file.seekp(offset);
  file.put(char(byte ^ 1));
}

std::string newest_error(const std::string& directory) {
  try {
    find_newest_checkpoint(directory, kIdentity);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(checkpoint_store_tests)

// CRC-64/XZ check value of "123456789".
BOOST_AUTO_TEST_CASE(checksum_is_the_published_one) {
  BOOST_TEST(crc64("123456789", 9) == 0x995dc9bbdf1939faULL);
  BOOST_TEST(crc64("6789", 4, crc64("12345", 5)) == 0x995dc9bbdf1939faULL);
}

BOOST_AUTO_TEST_CASE(newest_is_found_and_read_back) {
  const TempDir dir;
  Weights weights;
  for (int step : {10, 20}) write(dir.path(), weights, step);
  const CheckpointFound found = find_newest_checkpoint(dir.path(), kIdentity);
  BOOST_TEST(found.path == dir.path() + "/checkpoint-000002");
  BOOST_TEST(found.notes.empty());
  BOOST_TEST(found.state.step == 20);
  BOOST_TEST(found.state.epoch == 2);
  BOOST_TEST(found.state.adaptive.wanted_batch == 130.5);
  weights.values.assign(100, 0);
  load_checkpoint_tensors(found, weights.tensors());
  BOOST_TEST(weights.values[99] == 20.0F);
}

BOOST_AUTO_TEST_CASE(old_ones_are_removed_beyond_keep) {
  const TempDir dir;
  Weights weights;
  for (int step = 1; step <= 5; ++step) write(dir.path(), weights, step, 2);
  int count = 0;
  for (const auto& entry : fs::directory_iterator(dir.path())) count += entry.is_directory();
  BOOST_TEST(count == 2);
  BOOST_TEST(find_newest_checkpoint(dir.path(), kIdentity).state.step == 5);
  BOOST_TEST(fs::exists(dir / "checkpoint-000004"));
}

// Truncated, bit-flipped or incomplete: the one before is used, and it is said.
BOOST_AUTO_TEST_CASE(damaged_ones_are_skipped_with_a_note) {
  const auto damage = {
      +[](const std::string& path) { fs::resize_file(path + "/state.safetensors", 100); },
      +[](const std::string& path) { flip_byte(path + "/state.safetensors", 200); },
      +[](const std::string& path) { flip_byte(path + "/run.json", 20); },
      +[](const std::string& path) { fs::remove(path + "/run.json"); },
      +[](const std::string& path) { fs::resize_file(path + "/manifest.json", 20); },
      +[](const std::string& path) { fs::remove(path + "/manifest.json"); },
  };
  for (const auto& spoil : damage) {
    const TempDir dir;
    Weights weights;
    write(dir.path(), weights, 1);
    spoil(write(dir.path(), weights, 2));
    const CheckpointFound found = find_newest_checkpoint(dir.path(), kIdentity);
    BOOST_TEST(found.state.step == 1);
    BOOST_TEST_REQUIRE(found.notes.size() == 1U);
    BOOST_TEST(found.notes[0].find("checkpoint is damaged") != std::string::npos, found.notes[0]);
  }
}

BOOST_AUTO_TEST_CASE(every_truncation_of_the_manifest_is_damage) {
  const TempDir dir;
  Weights weights;
  const std::string path = write(dir.path(), weights, 1) + "/manifest.json";
  std::ifstream file(path);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  for (std::size_t length = 0; length + 1 < whole.size(); ++length) {
    std::ofstream(path, std::ios::trunc) << whole.substr(0, length);
    BOOST_TEST_REQUIRE(newest_error(dir.path()).find("no usable checkpoint") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(other_version_and_other_training_are_errors_not_skipped) {
  const TempDir dir;
  Weights weights;
  write(dir.path(), weights, 1);
  const std::string path = write(dir.path(), weights, 2);
  BOOST_CHECK_EXCEPTION(
      find_newest_checkpoint(dir.path(), "model cnn"), InputError, [&](const InputError& error) {
        return error.what() == path + "/run.json: checkpoint of another training (" + kIdentity +
                                   "), this one is model cnn; nothing was resumed";
      });
  std::ofstream(path + "/manifest.json") << R"({"jabas_checkpoint":9,"files":{}})";
  BOOST_TEST(newest_error(dir.path()) ==
             path + "/manifest.json: checkpoint version 9: accepted is 1; nothing was resumed");
}

BOOST_AUTO_TEST_CASE(empty_folder_is_an_error) {
  const TempDir dir;
  BOOST_TEST(newest_error(dir.path()) ==
             dir.path() + ": no usable checkpoint in this folder; nothing was resumed");
  BOOST_TEST(newest_error(dir.path() + "/none") ==
             dir.path() + "/none: no usable checkpoint in this folder; nothing was resumed");
  BOOST_TEST(!has_checkpoints(dir.path()));
}

BOOST_AUTO_TEST_CASE(left_over_temporary_folders_are_no_checkpoints) {
  const TempDir dir;
  fs::create_directory(dir / "tmp-checkpoint-000001");
  BOOST_TEST(!has_checkpoints(dir.path()));
  Weights weights;
  write(dir.path(), weights, 4);
  BOOST_TEST(find_newest_checkpoint(dir.path(), kIdentity).state.step == 4);
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_made_is_an_io_error) {
  const TempDir dir;
  std::ofstream(dir / "file") << "x";
  Weights weights;
  BOOST_CHECK_THROW(write((dir / "file").string(), weights, 1), IoError);
}

BOOST_AUTO_TEST_CASE(background_writer_writes_what_was_there_at_the_snapshot) {
  const TempDir dir;
  Weights weights;
  weights.values.assign(100, 7);
  CheckpointWriter writer(CheckpointStore(dir.path(), 2), kIdentity);
  writer.snapshot(weights.tensors(), at_step(7));
  weights.values.assign(100, 8);  // training goes on
  BOOST_TEST(writer.finish(std::chrono::seconds(20)));
  const CheckpointFound found = find_newest_checkpoint(dir.path(), kIdentity);
  load_checkpoint_tensors(found, weights.tensors());
  BOOST_TEST(weights.values[0] == 7.0F);
}

BOOST_AUTO_TEST_CASE(a_failed_background_write_is_told_and_harmless) {
  const TempDir dir;
  std::ofstream(dir / "file") << "x";
  Weights weights;
  CheckpointWriter writer(CheckpointStore((dir / "file").string(), 2), kIdentity);
  writer.snapshot(weights.tensors(), at_step(1));
  BOOST_TEST(!writer.finish(std::chrono::seconds(20)));
}

BOOST_AUTO_TEST_SUITE_END()
