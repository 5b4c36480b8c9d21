#include "elastic_runner/plugin_file.h"

#include <dlfcn.h>

#include <algorithm>
#include <exception>

#include "allocator/error.h"
#include "elastic_runner/plugin.h"

namespace jabas {
namespace {

// Never closed: what a factory made may outlive any owner that could be named.
void* open_plugin(const std::string& path) {
  void* object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!object) {
    std::string reason = dlerror();
    if (reason.starts_with(path + ": ")) reason.erase(0, path.size() + 2);
    throw InputError(path + ": cannot be loaded: " + reason);
  }
  const auto version =
      reinterpret_cast<decltype(&jabas_plugin_version)>(dlsym(object, "jabas_plugin_version"));
  if (!version) throw InputError(path + ": not a plug-in: it lacks JABAS_PLUGIN");
  if (version() != std::string(JABAS_PLUGIN_VERSION))
    throw InputError(path + ": is of version " + version() + ", this jabas-run takes " +
                     JABAS_PLUGIN_VERSION + "; build it again");
  return object;
}

template <typename Make>
auto call(const std::string& path, const char* factory, const char* what,
          const PluginContext& context) {
  const auto make = reinterpret_cast<Make>(dlsym(open_plugin(path), factory));
  if (!make) throw InputError(path + ": has no " + what + ": " + factory + " is not defined");
  std::unique_ptr<std::remove_pointer_t<decltype(make(context))>> made;
  try {
    made.reset(make(context));
  } catch (const std::exception& error) {
    throw InputError(path + ": " + factory + ": " + error.what());
  }
  if (!made) throw InputError(path + ": " + factory + " returned nothing");
  return made;
}

PluginContext context_of(const EngineOptions& options, at::ScalarType type) {
  return {options.plugin_options, options.seed, type, options.data_dir, {}};
}

// Keeps --subset, which the plug-in does not see.
class PluginLoader : public BatchLoader {
 public:
  PluginLoader(std::unique_ptr<const BatchLoader> data, std::int64_t subset)
      : data_(std::move(data)), subset_(subset) {
    if (subset < 0 || subset > data_->train_samples())
      throw UsageError("--subset=" + std::to_string(subset) + ": the training set has " +
                       std::to_string(data_->train_samples()) + " samples");
  }
  DataShape shape() const override { return data_->shape(); }
  std::int64_t train_samples() const override {
    return subset_ > 0 ? subset_ : data_->train_samples();
  }
  std::int64_t test_samples() const override { return data_->test_samples(); }
  Batch train(const std::vector<std::int64_t>& samples, RandomStream& draws) const override {
    return data_->train(samples, draws);
  }
  Batch test(const std::vector<std::int64_t>& samples) const override {
    return data_->test(samples);
  }

 private:
  const std::unique_ptr<const BatchLoader> data_;
  const std::int64_t subset_;
};

}  // namespace

std::unique_ptr<Model> make_plugin_model(const EngineOptions& options, const DataShape& shape,
                                         at::ScalarType type) {
  PluginContext context = context_of(options, type);
  context.shape = shape;
  auto model =
      call<decltype(&jabas_make_model)>(options.model, "jabas_make_model", "model", context);
  if (model->parameters().empty())
    throw InputError(options.model + ": its model has no parameters");
  for (const auto& [name, tensor] : model->parameters())
    if (tensor.scalar_type() != type || !tensor.requires_grad() || !tensor.is_leaf())
      throw InputError(options.model + ": parameter " + name +
                       " is not a leaf of the context's type that requires a gradient");
  return model;
}

std::unique_ptr<const BatchLoader> make_plugin_loader(const EngineOptions& options,
                                                      at::ScalarType type) {
  return std::make_unique<PluginLoader>(
      call<decltype(&jabas_make_data)>(options.dataset, "jabas_make_data", "data set",
                                       context_of(options, type)),
      options.subset);
}

}  // namespace jabas
