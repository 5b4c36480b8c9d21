#include "elastic_runner/model_catalogue.h"

#include <algorithm>

namespace jabas {
namespace {

using Kind = DataShape::Kind;

void append(std::string& list, const std::string& entry) {
  list += (list.empty() ? "" : ", ") + entry;
}

}  // namespace

bool ModelFacts::can_read(DataShape::Kind kind) const {
  return std::find(reads.begin(), reads.end(), kind) != reads.end();
}

const std::vector<ModelFacts>& built_in_models() {
  static const std::vector<ModelFacts> models = {
      {"cnn", {Kind::kImages}, true, {}},
      {"mlp", {Kind::kImages, Kind::kArrays}, false, {}},
      {"resnet18", {Kind::kImages}, true, {.width = 64}},
      {"resnet34", {Kind::kImages}, true, {.width = 64}},
      {"resnet50", {Kind::kImages}, true, {.width = 64}},
      {"vit",
       {Kind::kImages},
       false,
       {.layers = 6, .width = 128, .heads = 4, .dropout = 0.1, .patch_size = 4}},
      {"gpt", {Kind::kTokens}, false, {.layers = 4, .width = 128, .heads = 4, .dropout = 0.1}},
      {"gnmt", {Kind::kPairs}, false, {.layers = 2, .width = 128, .dropout = 0.2}},
      {"dlrm", {Kind::kClicks}, false, {.layers = 2, .width = 16}},
      {"unet", {Kind::kMasks}, true, {.layers = 4, .width = 32}},
  };
  return models;
}

std::vector<std::string> built_in_model_names() {
  std::vector<std::string> names;
  for (const ModelFacts& model : built_in_models()) names.push_back(model.name);
  return names;
}

const ModelFacts* find_built_in_model(const std::string& name) {
  for (const ModelFacts& model : built_in_models())
    if (model.name == name) return &model;
  return nullptr;
}

ModelSize with_defaults(const ModelFacts& model, ModelSize given) {
  for (const auto size :
       {&ModelSize::layers, &ModelSize::width, &ModelSize::heads, &ModelSize::patch_size})
    if (given.*size == 0) given.*size = model.size.*size;
  if (given.dropout < 0) given.dropout = model.size.dropout;
  return given;
}

std::string size_text(const ModelFacts& model, const ModelSize& size) {
  std::string text;
  if (model.size.layers > 0) append(text, std::to_string(size.layers) + " layers");
  if (model.size.width > 0) append(text, "width " + std::to_string(size.width));
  if (model.size.heads > 0) append(text, std::to_string(size.heads) + " heads");
  if (model.size.patch_size > 0) append(text, "patches of " + std::to_string(size.patch_size));
  return text;
}

std::string reads_text(const ModelFacts& model) {
  std::string text;
  for (const auto kind : model.reads) text += (text.empty() ? "" : " or ") + kind_name(kind);
  return text;
}

}  // namespace jabas
