#include "elastic_runner/engine_options.h"

namespace jabas {

ModelSize model_size(const TrainingSpec& spec) {
  return {spec.layers, spec.width, spec.heads, spec.dropout, spec.patch_size};
}

EngineOptions engine_options(const TrainingSpec& spec) {
  EngineOptions options;
  options.model = spec.model;
  options.size = model_size(spec);
  options.loss = spec.loss;
  options.dataset = spec.dataset;
  options.plugin_options = spec.plugin_options;
  options.reading = {spec.image_size, spec.augment,  spec.token_type,
                     spec.vocabulary, spec.skip_bad, spec.readers};
  options.synthetic = {
      spec.synthetic_kind,         spec.synthetic_samples,
      spec.synthetic_test_samples, {spec.synthetic_shape.begin(), spec.synthetic_shape.end()},
      spec.synthetic_classes,      spec.vocabulary};
  options.data_dir = spec.data_dir;
  options.subset = spec.subset;
  options.sequence_length = spec.sequence_length;
  options.precision = spec.precision;
  options.device = "cpu";  // auto without CUDA, cpu, emulated; cuda is refused by `train`
  options.optimizer = {spec.optimizer, spec.momentum, spec.nesterov,     spec.beta1,
                       spec.beta2,     spec.epsilon,  spec.weight_decay, spec.decay_all};
  options.clip_norm = spec.clip_norm;
  options.seed = spec.seed;
  return options;
}

}  // namespace jabas
