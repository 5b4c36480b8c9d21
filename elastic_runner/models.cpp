#include "elastic_runner/models.h"

#include <map>

#include "allocator/error.h"
#include "elastic_runner/built_in_model.h"
#include "elastic_runner/cnn_model.h"
#include "elastic_runner/dlrm_model.h"
#include "elastic_runner/gnmt_model.h"
#include "elastic_runner/gpt_model.h"
#include "elastic_runner/mlp_model.h"
#include "elastic_runner/model_catalogue.h"
#include "elastic_runner/model_file.h"
#include "elastic_runner/plugin_file.h"
#include "elastic_runner/resnet_model.h"
#include "elastic_runner/torchscript_model.h"
#include "elastic_runner/unet_model.h"
#include "elastic_runner/vit_model.h"

namespace jabas {
namespace {

using Maker = std::unique_ptr<Model> (*)(const EngineOptions&, const DataShape&, at::ScalarType);

const std::map<std::string, Maker>& makers() {
  static const std::map<std::string, Maker> makers = {
      {"cnn", make_cnn},         {"mlp", make_mlp},         {"resnet18", make_resnet},
      {"resnet34", make_resnet}, {"resnet50", make_resnet}, {"vit", make_vit},
      {"gpt", make_gpt},         {"gnmt", make_gnmt},       {"dlrm", make_dlrm},
      {"unet", make_unet},
  };
  return makers;
}

std::string accepted_names() {
  std::string list;
  for (const std::string& name : built_in_model_names()) list += (list.empty() ? "" : ", ") + name;
  return list;
}

}  // namespace

std::unique_ptr<Model> make_model(const EngineOptions& options, const DataShape& shape,
                                  at::ScalarType type) {
  if (is_torchscript_file(options.model)) return make_torchscript_model(options, shape, type);
  if (is_plugin_file(options.model)) return make_plugin_model(options, shape, type);
  const ModelFacts* facts = find_built_in_model(options.model);
  if (facts == nullptr)
    throw UsageError("--model=" + options.model + ": accepted are " + accepted_names());
  if (!facts->can_read(shape.kind)) refuse_data(options, shape, reads_text(*facts));
  EngineOptions sized = options;
  sized.size = with_defaults(*facts, options.size);
  return makers().at(options.model)(sized, shape, type);
}

}  // namespace jabas
