// Executes IIDP steps on one GPU (or CPU): V replicas on shared weights, a+1 micro-steps, bucketed all-reduce overlapped
// with backward, one optimizer step (shared design "model" 1; "libtorch-facts" Decisions, B, E).
// No torch in this header: the trainer above it never sees a tensor.
//
// Gradient of a step: g = Σ_k n_k·∇ℓ̄_k / Σ_k n_k over all virtual workers k of all ranks.
// Units: samples, seconds.   Ownership: the engine owns model, optimizer state and replicas.
// Threads: one caller thread; the engine runs its own persistent threads (one per stream, one for communication).
// Errors: InputError for unreadable data; CommError from the communicator leaves weights as before the step
//         (the optimizer step happens only after every bucket is reduced).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allocator/control_messages.h"
#include "elastic_runner/communicator.h"

namespace jabas {

struct OptimizerOptions {
  std::string name = "sgd";                  // sgd | adam | adamw | lamb
  double momentum = 0.9;                     // sgd
  bool nesterov = false;                     // sgd
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // adam, adamw, lamb
  double weight_decay = 0;                   // of parameters with two or more dimensions
  bool decay_all = false;                    // also of norms and biases
};

// Of the built-in models that have sizes; which, and their defaults: model_catalogue.h.
struct ModelSize {
  int layers = 0, width = 0, heads = 0;      // 0 = the model's default; width is a multiple of heads
  double dropout = -1;                       // negative = the model's default
  int patch_size = 0;                        // 0 = the model's default
};

// Generated data that can be learnt, a function of these fields and the sample's index alone.
struct SyntheticOptions {
  std::string kind;                          // kind_name() of data_shape.h; "" = the first that the model reads
  std::int64_t samples = 2048, test_samples = 256;
  std::vector<std::int64_t> sample_shape;    // by kind: synthetic_data.h; empty = a small one
  std::int64_t classes = 10;                 // images, masks, arrays; arrays with 0 classes: numbers
  std::int64_t vocabulary = 64;              // tokens, pairs
};

// How the samples of a data set are read; which options belong to which: docs/training.md.
struct ReadingOptions {
  int image_size = 224;                      // images: every picture becomes so many pixels square
  bool augment = false;                      // cifar10, cifar100, images: random changes in training
  std::string token_type = "uint16";         // tokens: uint16 | uint32
  std::int64_t vocabulary = 0;               // tokens
  bool skip_bad = false;                     // leave out what cannot be read instead of failing
  int readers = 0;                           // threads that read ahead; 0 = each stream reads its own
};

struct EngineOptions {
  std::string model = "cnn";                 // a name of model_catalogue.h, a TorchScript file or a plug-in
  ModelSize size;
  std::string loss;                          // TorchScript: cross_entropy | mse | bce | own; "" = what suits the data
  std::string dataset = "fashion-mnist";     // a name of datasets.h, or a plug-in
  ReadingOptions reading;
  std::string data_dir;
  std::string plugin_options;                // --plugin-options, for plug-ins alone
  std::int64_t subset = 0;
  std::int64_t sequence_length = 64;         // text, tokens: length of a sample
  SyntheticOptions synthetic;
  std::string precision = "fp32";            // fp32 | fp64
  std::string device = "cpu";                // cpu | cuda
  OptimizerOptions optimizer;
  double clip_norm = 0;                      // of the step's gradient; 0 = no clipping
  std::uint64_t seed = 0;
  std::int64_t bucket_bytes = 1 << 20;
  bool overlap = true;                       // false: buckets wait for the end of backward (to measure what overlap gains)
  // Called by the loader for what it really read, before the step's last all-reduce.
  std::function<void(std::int64_t virtual_worker, const std::vector<std::int64_t>& samples)> on_read;
  // Called by count_train_samples if samples were left out (skip_bad): how many, why the first.
  std::function<void(std::int64_t samples, const std::string& first)> on_skipped;
};

struct StepPlan {
  int epoch = 0;
  std::int64_t step = 0;                     // of the run, from 1
  // This rank's passes: index micro·V + v; an empty slice contributes nothing. Its virtual worker is first_worker + index.
  std::vector<std::vector<std::int64_t>> slices;
  std::int64_t first_worker = 0;
  // A hint, to read ahead: the slices of the same passes in step + 1 of this epoch if nothing changes until then. A wrong
  // one costs time only.
  std::vector<std::vector<std::int64_t>> next_slices;
  std::int64_t step_samples = 0;             // Σ n_k over all ranks
  double learning_rate = 0;
  bool measure = false;                      // also reduce the even/odd halves (one extra all-reduce)
  std::vector<float> control;                // SUM-reduced with the last bucket; same length on every rank
  double min_compute_s = 0;                  // emulated device: sleep until this long after the step began before publishing the last bucket
};

struct StepOutcome {
  double loss = 0;                           // Σ n_k·ℓ̄_k / Σ n_k over all ranks
  std::vector<float> control;                // the sums
  StepTimes times;                           // of this rank
  std::vector<BucketTime> buckets;           // of this rank, in the order they become ready
  bool typical = false;                      // a whole batch, and nothing extra was measured; filled in by the trainer
  double learning_rate = 0;                  // of the plan; filled in by the trainer
  std::int64_t samples = 0;                  // of the step on all ranks; filled in by the trainer
  double gradient_norm = -1;                 // before clipping; -1 = not computed
  bool overrun = false;                      // emulated: real work took longer than min_compute_s
  // With measure: squared norms of the mean gradients of even virtual workers, odd ones, and all; their inner product.
  struct Halves { double even_sqr = 0, odd_sqr = 0, all_sqr = 0, inner = 0; std::int64_t even_samples = 0, odd_samples = 0; };
  std::optional<Halves> halves;
};

// Sums over the labels: one per image, one per byte of a text.
// A negative `correct`: the loss knows no classes.
struct Evaluation {
  double loss_sum = 0;
  std::int64_t correct = 0, count = 0;
  std::int64_t correct_top5 = 0, count_top5 = 0;  // of the labels with more than 5 classes
  bool is_text = false;                           // labels are parts of sequences: exp(mean loss) is the perplexity
};

// A named piece of training state as raw memory: weights, optimizer state, buffers. What checkpoints store and joiners get.
struct StateTensor {
  std::string name;                          // "weight/conv1.weight", "exp_avg/conv1.weight", "buffer/bn1.running_mean"
  std::string dtype;                         // safetensors names: F32, F64, I64
  std::vector<std::int64_t> shape;
  void* data = nullptr;                      // valid as long as the engine lives
  std::size_t bytes = 0;
};

class IidpEngine {
 public:
  virtual ~IidpEngine() = default;
  virtual std::int64_t train_samples() const = 0;
  virtual bool has_batch_norm() const = 0;
  // Sets V (streams) and a for the following steps; keeps what stays. local_batch only warms caches.
  virtual void configure(int streams, int accum_steps, std::int64_t local_batch) = 0;
  // Time of one concurrent pass (data, forward, backward) of V = streams replicas at this local batch, median of `repeats`
  // after one that warms up; V = 1 gives the time of an update as well. Leaves the training as it is: weights, optimizer
  // state, buffers, random numbers, V and a; on_read is not called.
  virtual StepTimes measure(std::int64_t local_batch, int streams, int repeats) = 0;
  // Sizes of the buckets of the all-reduce, in the order they become ready.
  virtual std::vector<double> bucket_bytes() const = 0;
  virtual StepOutcome train_step(const StepPlan& plan, Communicator& communicator) = 0;
  // This rank's share (indices ≡ rank mod world_size) of the test set, in eval mode with the canonical buffers.
  virtual Evaluation evaluate(int rank, int world_size) = 0;
  // Order and names are the same on every rank. Writing through `data` changes the training state.
  virtual std::vector<StateTensor> state() = 0;
};

std::unique_ptr<IidpEngine> make_iidp_engine(const EngineOptions& options);

// Size of the options' training set without building a model. InputError names the file and the reason.
std::int64_t count_train_samples(const EngineOptions& options);

}  // namespace jabas
