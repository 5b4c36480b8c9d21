#include <ATen/ATen.h>

#include "elastic_runner/batch_loader.h"
#include "elastic_runner/blas_turn.h"
#include "elastic_runner/predictions.h"
#include "elastic_runner/torch_engine.h"

namespace jabas {
namespace {

constexpr std::int64_t kEvaluationBatch = 500;

}  // namespace

// Every V-th chunk, beginning with `first`, on the stream's thread.
Evaluation TorchEngine::evaluate_chunks(Stream& stream,
                                        const std::vector<std::vector<std::int64_t>>& chunks,
                                        std::size_t first) {
  const at::NoGradGuard no_grad;
  Model& model = stream.replica->model();
  load_canonical_buffers(model);
  Evaluation sum;
  for (std::size_t chunk = first; chunk < chunks.size(); chunk += streams_.size()) {
    const Batch batch = loader_->test(chunks[chunk]);
    const auto turn = blas_turn();
    const Predictions predictions(model.forward(batch, nullptr), batch.labels, model.loss());
    sum.loss_sum += predictions.loss_sum().item<double>();
    sum.correct += predictions.correct();
    sum.count += predictions.labels();
    if (predictions.has_top5()) {
      sum.correct_top5 += predictions.correct_top5();
      sum.count_top5 += predictions.labels();
    }
  }
  return sum;
}

Evaluation TorchEngine::evaluate(int rank, int world_size) {
  std::vector<std::vector<std::int64_t>> chunks;
  for (std::int64_t sample = rank; sample < loader_->test_samples(); sample += world_size) {
    if (chunks.empty() || chunks.back().size() == kEvaluationBatch) chunks.emplace_back();
    chunks.back().push_back(sample);
  }
  std::vector<Evaluation> parts(streams_.size());
  for (std::size_t i = 0; i < streams_.size(); ++i)
    streams_[i]->worker->start([&, i] { parts[i] = evaluate_chunks(*streams_[i], chunks, i); });
  FirstFailure failure;
  for (const auto& stream : streams_) failure.collect([&] { stream->worker->wait(); });
  failure.rethrow();
  Evaluation sum;
  const auto kind = loader_->shape().kind;
  sum.is_text = kind == DataShape::Kind::kTokens || kind == DataShape::Kind::kPairs;
  for (const auto& part : parts) {
    sum.loss_sum += part.loss_sum;
    sum.correct += part.correct;
    sum.count += part.count;
    sum.correct_top5 += part.correct_top5;
    sum.count_top5 += part.count_top5;
  }
  return sum;
}

}  // namespace jabas
