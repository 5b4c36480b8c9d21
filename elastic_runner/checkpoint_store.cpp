#include "elastic_runner/checkpoint_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "allocator/error.h"
#include "elastic_runner/checksum.h"
#include "elastic_runner/engine_options.h"
#include "elastic_runner/model_catalogue.h"
#include "elastic_runner/state_file.h"

namespace jabas {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kTensorFile[] = "state.safetensors";
constexpr char kRunFile[] = "run.json";
constexpr char kManifestFile[] = "manifest.json";
constexpr char kPrefix[] = "checkpoint-";

// A checkpoint that cannot be trusted; find_newest goes on with the one before.
struct Damaged {
  std::string reason;
};

int sequence_of(const fs::path& path) {
  int sequence = 0, length = 0;
  const std::string name = path.filename().string();
  if (std::sscanf(name.c_str(), "checkpoint-%d%n", &sequence, &length) != 1) return 0;
  return length == int(name.size()) ? sequence : 0;
}

// Newest first. A folder that does not exist has none.
std::vector<fs::path> checkpoints_in(const std::string& directory) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (sequence_of(entry.path()) > 0) found.push_back(entry.path());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw IoError("cannot read the checkpoint folder", directory, error.value());
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return sequence_of(a) > sequence_of(b); });
  return found;
}

void sync_directory(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && ::fsync(fd) == 0;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (!synced) throw IoError("cannot sync", path, error);
}

void write_synced(const std::string& path, const std::string& text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) throw IoError("cannot create", path, errno);
  const bool written =
      ::write(fd, text.data(), text.size()) == ssize_t(text.size()) && ::fsync(fd) == 0;
  const int error = errno;
  ::close(fd);
  if (!written) throw IoError("cannot write", path, error);
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  if (!file) throw Damaged{path.filename().string() + " cannot be read"};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

json parse_json(const fs::path& path) {
  json object = json::parse(read_text(path), nullptr, false);
  if (!object.is_object()) throw Damaged{path.filename().string() + " is not whole"};
  return object;
}

std::string hex(std::uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

// Damaged if any file is not what the manifest says.
void verify_files(const fs::path& path, const json& manifest) {
  for (const char* name : {kTensorFile, kRunFile}) {
    const json& entry = manifest.at("files").at(name);
    std::error_code error;
    const auto bytes = fs::file_size(path / name, error);
    if (error) throw Damaged{std::string(name) + " is missing"};
    if (bytes != entry.at("bytes").get<std::uint64_t>()) {
      throw Damaged{std::string(name) + " has " + std::to_string(bytes) + " bytes instead of " +
                    std::to_string(entry.at("bytes").get<std::uint64_t>())};
    }
    if (hex(checksum_of_file((path / name).string()).crc) != entry.at("crc64").get<std::string>()) {
      throw Damaged{std::string(name) + " has another checksum"};
    }
  }
}

CheckpointFound open_checkpoint(const fs::path& path, const std::string& identity) {
  try {
    const json manifest = parse_json(path / kManifestFile);
    const int version = manifest.at("jabas_checkpoint").get<int>();
    if (version != kCheckpointVersion) {
      throw InputError((path / kManifestFile).string() + ": checkpoint version " +
                       std::to_string(version) + ": accepted is " +
                       std::to_string(kCheckpointVersion) + "; nothing was resumed");
    }
    verify_files(path, manifest);
    const json run = parse_json(path / kRunFile);
    const auto found = run.at("training").get<std::string>();
    if (found != identity) {
      throw InputError((path / kRunFile).string() + ": checkpoint of another training (" + found +
                       "), this one is " + identity + "; nothing was resumed");
    }
    return {path.string(), run_state_from_json(run.at("state").dump()), {}};
  } catch (const json::exception& error) {
    throw Damaged{std::string("bad key: ") + error.what()};
  } catch (const ProtocolError& error) {
    throw Damaged{error.what()};
  }
}

}  // namespace

namespace {

// Two data sets of one name and size differ in these.
std::string data_set_of(const TrainingSpec& spec) {
  if (spec.dataset == "images") return "images (" + std::to_string(spec.image_size) + " pixels)";
  if (spec.dataset == "tokens")
    return "tokens (" + std::to_string(spec.sequence_length) + " each, vocabulary " +
           std::to_string(spec.vocabulary) + ")";
  if (spec.dataset == "synthetic") {
    std::string text = "synthetic " + spec.synthetic_kind;
    for (const int size : spec.synthetic_shape) text += " " + std::to_string(size);
    return text + " (" + std::to_string(spec.synthetic_classes) + " classes, vocabulary " +
           std::to_string(spec.vocabulary) + ")";
  }
  return spec.dataset;
}

}  // namespace

std::string training_identity(const TrainingSpec& spec) {
  std::string size;
  if (const ModelFacts* model = find_built_in_model(spec.model))
    size = size_text(*model, model_size(spec));
  if (spec.dataset == "text") size += ", " + std::to_string(spec.sequence_length) + " bytes";
  return "model " + spec.model + (size.empty() ? "" : " (" + size + ")") + ", data set " +
         data_set_of(spec) + ", " + std::to_string(spec.train_samples) + " samples, " +
         spec.precision + ", " + spec.optimizer + ", seed " + std::to_string(spec.seed);
}

CheckpointStore::CheckpointStore(std::string directory, int keep)
    : directory_(std::move(directory)), keep_(keep) {}

std::string CheckpointStore::write(const std::vector<StateTensor>& tensors, const RunState& state,
                                   const std::string& identity) {
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error) throw IoError("cannot create the checkpoint folder", directory_, error.value());
  const auto present = checkpoints_in(directory_);
  char name[32];
  std::snprintf(name, sizeof name, "%s%06d", kPrefix,
                present.empty() ? 1 : sequence_of(present.front()) + 1);
  const fs::path temporary = fs::path(directory_) / ("tmp-" + std::string(name));
  const fs::path final_path = fs::path(directory_) / name;
  fs::remove_all(temporary, error);
  if (!fs::create_directory(temporary, error)) {
    throw IoError("cannot create the checkpoint", temporary.string(), error.value());
  }
  write_safetensors((temporary / kTensorFile).string(), tensors, {});
  write_synced(
      (temporary / kRunFile).string(),
      json{{"training", identity}, {"state", json::parse(to_json_text(state))}}.dump() + "\n");
  json files;
  for (const char* file : {kTensorFile, kRunFile}) {
    const FileChecksum sum = checksum_of_file((temporary / file).string());
    files[file] = {{"bytes", sum.bytes}, {"crc64", hex(sum.crc)}};
  }
  write_synced((temporary / kManifestFile).string(),
               json{{"jabas_checkpoint", kCheckpointVersion}, {"files", files}}.dump() + "\n");
  sync_directory(temporary.string());
  fs::rename(temporary, final_path, error);
  if (error) throw IoError("cannot rename the checkpoint", temporary.string(), error.value());
  sync_directory(directory_);
  // A failure to remove an old one costs space, nothing else.
  for (std::size_t i = std::size_t(keep_) - 1; i < present.size(); ++i)
    fs::remove_all(present[i], error);
  return final_path.string();
}

CheckpointFound find_newest_checkpoint(const std::string& directory, const std::string& identity) {
  std::vector<std::string> notes;
  for (const auto& path : checkpoints_in(directory)) {
    try {
      CheckpointFound found = open_checkpoint(path, identity);
      found.notes = notes;
      return found;
    } catch (const Damaged& damage) {
      notes.push_back(path.string() + ": checkpoint is damaged: " + damage.reason +
                      "; the one before is used");
    }
  }
  std::string text = directory + ": no usable checkpoint in this folder";
  for (const auto& note : notes) text += "; " + note;
  throw InputError(text + "; nothing was resumed");
}

bool has_checkpoints(const std::string& directory) { return !checkpoints_in(directory).empty(); }

void load_checkpoint_tensors(const CheckpointFound& found,
                             const std::vector<StateTensor>& tensors) {
  read_safetensors(found.path + "/" + kTensorFile, tensors);
}

}  // namespace jabas
