#include "allocator/training_spec.h"

#include "allocator/field_archive.h"

namespace jabas {

void visit_fields(FieldArchive& archive, TrainingSpec& spec) {
  archive.field("model", spec.model);
  archive.field("loss", spec.loss);
  archive.field("plugin_options", spec.plugin_options);
  archive.field("layers", spec.layers);
  archive.field("width", spec.width);
  archive.field("heads", spec.heads);
  archive.field("dropout", spec.dropout);
  archive.field("patch_size", spec.patch_size);
  archive.field("dataset", spec.dataset);
  archive.field("sequence_length", spec.sequence_length);
  archive.field("token_type", spec.token_type);
  archive.field("vocabulary", spec.vocabulary);
  archive.field("image_size", spec.image_size);
  archive.field("synthetic_kind", spec.synthetic_kind);
  archive.field("synthetic_shape", spec.synthetic_shape);
  archive.field("synthetic_samples", spec.synthetic_samples);
  archive.field("synthetic_test_samples", spec.synthetic_test_samples);
  archive.field("synthetic_classes", spec.synthetic_classes);
  archive.field("augment", spec.augment);
  archive.field("skip_bad", spec.skip_bad);
  archive.field("readers", spec.readers);
  archive.field("data_dir", spec.data_dir);
  archive.field("subset", spec.subset);
  archive.field("train_samples", spec.train_samples);
  archive.field("epochs", spec.epochs);
  archive.field("local_batch", spec.local_batch);
  archive.field("local_batch_fixed", spec.local_batch_fixed);
  archive.field("virtual_workers", spec.virtual_workers);
  archive.field("vsw", spec.vsw);
  archive.field("accum", spec.accum);
  archive.field("batch_min", spec.batch_min);
  archive.field("batch_max", spec.batch_max);
  archive.field("batch_initial", spec.batch_initial);
  archive.field("batch_policy", spec.batch_policy);
  archive.field("similarity_target", spec.similarity_target);
  archive.field("adapt_every", spec.adapt_every);
  archive.field("adapt_up", spec.adapt_up);
  archive.field("adapt_down", spec.adapt_down);
  archive.field("adaptive", spec.adaptive);
  archive.field("lr_scaling", spec.lr_scaling);
  archive.field("lr_schedule", spec.lr_schedule);
  archive.field("warmup_epochs", spec.warmup_epochs);
  archive.field("lr_step_epochs", spec.lr_step_epochs);
  archive.field("lr_gamma", spec.lr_gamma);
  archive.field("lr_power", spec.lr_power);
  archive.field("lr_end", spec.lr_end);
  archive.field("optimizer", spec.optimizer);
  archive.field("lr", spec.lr);
  archive.field("momentum", spec.momentum);
  archive.field("nesterov", spec.nesterov);
  archive.field("beta1", spec.beta1);
  archive.field("beta2", spec.beta2);
  archive.field("epsilon", spec.epsilon);
  archive.field("weight_decay", spec.weight_decay);
  archive.field("decay_all", spec.decay_all);
  archive.field("clip_norm", spec.clip_norm);
  archive.field("seed", spec.seed);
  archive.field("device", spec.device);
  archive.field("precision", spec.precision);
  archive.field("emulate_profile", spec.emulate_profile);
  archive.field("emulate_scale", spec.emulate_scale);
  archive.field("ledger_dir", spec.ledger_dir);
  archive.field("metrics_file", spec.metrics_file);
  archive.field("export_file", spec.export_file);
  archive.field("checkpoint_dir", spec.checkpoint_dir);
  archive.field("keep_checkpoints", spec.keep_checkpoints);
  archive.field("resume_dir", spec.resume_dir);
  archive.field("workers_per_epoch", spec.workers_per_epoch);
}

bool lacks_similarity_target(const TrainingSpec& spec) {
  return spec.adaptive && spec.batch_policy != "goodput" && spec.similarity_target <= 0;
}

std::string to_json_text(const TrainingSpec& spec) {
  return write_object(
      [copy = spec](FieldArchive& archive) mutable { visit_fields(archive, copy); });
}

TrainingSpec training_spec_from_json(const std::string& text) {
  TrainingSpec spec;
  read_object(text, "spec", [&](FieldArchive& archive) { visit_fields(archive, spec); });
  return spec;
}

}  // namespace jabas
