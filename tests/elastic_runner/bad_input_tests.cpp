// Bad input ends with one clear line and a documented exit code: the exact texts.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "tests/elastic_runner/program_run.h"
#include "tests/support/temp_dir.h"

using namespace jabas::testing;
namespace fs = std::filesystem;

namespace {

void fails(const TempDir& dir, const std::string& line, int code, const std::string& text) {
  ProgramRun run(dir.path(), line);
  BOOST_TEST(run.wait() == code, line);
  BOOST_TEST(run.err() == "jabas-run: " + text + "\n");
  BOOST_TEST(run.out() == "");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bad_input_tests)

BOOST_AUTO_TEST_CASE(command_line) {
  const TempDir dir;
  fails(dir, "", 2, "no command given; accepted are train, join, profile and check-ledger");
  fails(dir, "trian", 2, "command 'trian': accepted are train, join, profile and check-ledger");
  fails(dir, "train --local 2 --model resnet", 2,
        "--model=resnet: accepted are cnn, mlp, resnet18, resnet34, resnet50, vit, gpt, gnmt, dlrm "
        "and unet, a TorchScript file (.pt) and a plug-in (.so)");
  fails(dir, "train --local 1 --epochs many", 2,
        "Could not convert: --epochs = many; see jabas-run train --help");
  fails(dir, "train --local 4,2 --epochs 2 --virtual-workers 8 --vsw 2,3", 2,
        "--vsw, --accum: epoch 2 has Σ V·(A+1) = 6 virtual workers, but the run has 8; nothing was "
        "started");
  fails(dir, "check-ledger", 2,
        "check-ledger: accepted is one folder, as given to train --ledger-out");
  fails(dir, "join --workers 1", 2,
        "join: JABAS_MEMBER is not set: member jobs are submitted by jabasd only");
}

BOOST_AUTO_TEST_CASE(unreadable_data_set) {
  const TempDir dir;
  const std::string place = dir.path() + "/nowhere";
  ProgramRun run(dir.path(), "train --local 1 --data-dir " + place);
  BOOST_TEST(run.wait() == 3);
  const std::string text = run.err();
  BOOST_TEST(std::count(text.begin(), text.end(), '\n') == 1);
  BOOST_TEST(text.find("jabas-run: ") == 0U, text);
  BOOST_TEST(text.find(place) != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(checkpoints) {
  const TempDir dir;
  if (!fs::exists("/usr/share/datasets/fashion-mnist")) return;
  const std::string state = (dir / "state").string();
  fails(dir, "train --local 1 --resume=" + state, 3,
        state + ": no usable checkpoint in this folder; nothing was resumed");
  fs::create_directories(state + "/checkpoint-000001");
  std::ofstream(state + "/checkpoint-000001/manifest.json")
      << R"({"jabas_checkpoint":7,"files":{}})";
  fails(dir, "train --local 1 --resume=" + state, 3,
        state +
            "/checkpoint-000001/manifest.json: checkpoint version 7: accepted is 1; nothing was "
            "resumed");
}

BOOST_AUTO_TEST_CASE(profile_and_outputs) {
  const TempDir dir;
  if (!fs::exists("/usr/share/datasets/fashion-mnist")) return;
  const std::string none = (dir / "none").string();
  {
    ProgramRun run(dir.path(), "train --local 1 --device emulated --emulate " + none);
    BOOST_TEST(run.wait() == 3);
    const std::string text = run.err();
    BOOST_TEST(std::count(text.begin(), text.end(), '\n') == 1);
    BOOST_TEST(text.find(none) != std::string::npos, text);
  }
  fails(dir, "train --local 1 --export " + none + "/w.safetensors", 3,
        "--export=" + none + "/w.safetensors: cannot write in this folder: " + none +
            ": No such file or directory");
}

BOOST_AUTO_TEST_CASE(ledger) {
  const TempDir dir;
  fails(dir, "check-ledger " + dir.path(), 3, dir.path() + ": no ledger-*.jsonl in this folder");
}

BOOST_AUTO_TEST_SUITE_END()
