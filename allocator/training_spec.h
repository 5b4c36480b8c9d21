// The training a run performs: what `jabas-run train` was asked for, parsed and validated.
// Sent by the console in `hello`, handed to every worker in `welcome`; jabasd reads the batch rules
// from it.
// Units: batches and counts in samples; lr as torch::optim takes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace jabas {

class FieldArchive;

// Fixed split of virtual workers (only with --vsw/--accum): [epoch][rank]; the last epoch's entry
// repeats, and an epoch entry with one value holds for every rank. Empty = as even as possible, or
// the solver's choice under Slurm.
using SplitTable = std::vector<std::vector<int>>;

struct TrainingSpec {
  std::string model = "cnn";   // a built-in one, a TorchScript file or a plug-in (absolute paths)
  std::string loss;            // TorchScript; "" = what suits the data
  std::string plugin_options;  // for plug-ins alone
  int layers = 0, width = 0, heads = 0;  // filled in by the console; 0 = the model has none
  double dropout = -1;                   // likewise; negative = the model has none
  int patch_size = 0;                    // likewise
  std::string dataset = "fashion-mnist";
  std::int64_t sequence_length = 64;  // text, tokens: length of a sample
  std::string token_type = "uint16";  // tokens: uint16 | uint32
  std::int64_t vocabulary = 0;        // tokens, synthetic
  int image_size = 224;               // images
  std::string synthetic_kind;         // synthetic; "" = what the model reads
  std::vector<int> synthetic_shape;   // sizes of a sample; empty = a small one
  std::int64_t synthetic_samples = 2048, synthetic_test_samples = 256;
  std::int64_t synthetic_classes = 10;
  bool augment = false;            // cifar10, cifar100, images
  bool skip_bad = false;           // leave out samples that cannot be read
  int readers = 0;                 // threads of a worker that read ahead
  std::string data_dir;            // "" = the data set's default place
  std::int64_t subset = 0;         // 0 = all training samples
  std::int64_t train_samples = 0;  // size of the training set in use, filled in by the console
  int epochs = 1;
  std::int64_t local_batch = 32;            // b per virtual worker
  bool local_batch_fixed = false;           // given on the command line: b never changes
  std::int64_t virtual_workers = 0;         // N; 0 = derived from the batch options
  SplitTable vsw;                           // V
  SplitTable accum;                         // a (steps beyond the first)
  std::int64_t batch_min = 0;               // 0 = b·N of the start
  std::int64_t batch_max = 0;               // 0 = batch_min (no growth)
  std::int64_t batch_initial = 0;           // 0 = batch_min
  std::string batch_policy = "similarity";  // paper | similarity | goodput
  double similarity_target = 0;             // required when adaptive, but not by goodput
  std::int64_t adapt_every = 100;           // p, steps of the run
  double adapt_up = 1.1;                    // factors of policy `paper`
  double adapt_down = 0.9;
  bool adaptive = false;
  std::string lr_scaling = "sqrt";       // sqrt | linear | adascale | none
  std::string lr_schedule = "constant";  // constant | step | cosine | polynomial
  double warmup_epochs = 0;
  double lr_step_epochs = 0, lr_gamma = 0.1;  // step
  double lr_power = 1;                        // polynomial
  double lr_end = 0;                          // cosine, polynomial: the last factor
  std::string optimizer = "sgd";              // sgd | adam | adamw | lamb
  double lr = 0.02;
  double momentum = 0.9;                              // sgd
  bool nesterov = false;                              // sgd
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // adam, adamw, lamb
  double weight_decay = 0;
  bool decay_all = false;  // weight decay also on norms and biases
  double clip_norm = 0;    // 0 = gradients are not clipped
  std::uint64_t seed = 0;
  std::string device = "auto";     // auto | cpu | cuda | emulated
  std::string precision = "fp32";  // fp32 | fp64
  std::string emulate_profile;     // --emulate FILE: profile whose times are slept
  double emulate_scale = 1.0;
  std::string ledger_dir;  // "" = none
  std::string metrics_file;
  std::string export_file;
  std::string checkpoint_dir;  // "" = no checkpoints
  int keep_checkpoints = 2;
  std::string resume_dir;  // "" = start afresh; else the checkpoint directory to resume from
  // Only `--local`: workers in each epoch, the last repeats. Rank 0 then waits at a boundary for
  // the planned resize.
  std::vector<int> workers_per_epoch;
};

// An adaptive run whose policy needs a similarity target has none.
bool lacks_similarity_target(const TrainingSpec& spec);

std::string to_json_text(const TrainingSpec& spec);
// Throws ProtocolError naming the key on a missing or ill-typed field. Unknown keys are ignored.
TrainingSpec training_spec_from_json(const std::string& text);
// The one list of its fields, for both directions and for the messages that carry it.
void visit_fields(FieldArchive& archive, TrainingSpec& spec);

}  // namespace jabas
