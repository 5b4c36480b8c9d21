#include "elastic_runner/predictions.h"

#include <ATen/ATen.h>

#include <sstream>

#include "allocator/error.h"

namespace jabas {
namespace {

[[noreturn]] void refuse(const at::Tensor& output, const at::Tensor& labels) {
  std::ostringstream text;
  text << "the model's output of shape " << output.sizes() << " does not fit labels of shape "
       << labels.sizes();
  throw InputError(text.str());
}

// The last dimension is that of the classes; where only the second can be, it is moved there.
at::Tensor with_classes_last(const at::Tensor& output, const at::Tensor& labels) {
  if (output.dim() != labels.dim() + 1) refuse(output, labels);
  const auto sizes = output.sizes();
  if (sizes.slice(0, sizes.size() - 1) == labels.sizes()) return output;
  const at::Tensor moved = output.movedim(1, -1);
  if (moved.sizes().slice(0, sizes.size() - 1) != labels.sizes()) refuse(output, labels);
  return moved;
}

}  // namespace

Predictions::Predictions(const at::Tensor& output, const at::Tensor& labels, Loss loss)
    : loss_(loss), samples_(labels.size(0)), count_(labels.numel()) {
  switch (loss) {
    case Loss::kCrossEntropy:
      output_ = with_classes_last(output, labels).flatten(0, -2);
      labels_ = labels.flatten();
      break;
    case Loss::kMeanSquare:
    case Loss::kBinary:
      if (output.numel() != labels.numel()) refuse(output, labels);
      output_ = output.flatten();
      labels_ = labels.flatten().to(output.scalar_type());
      break;
    case Loss::kOwn:
      if (output.numel() != 1) refuse(output, labels);
      output_ = output.reshape({});
      count_ = samples_;
      break;
  }
}

at::Tensor Predictions::loss_sum() const {
  switch (loss_) {
    case Loss::kCrossEntropy:
      return at::cross_entropy_loss(output_, labels_, {}, at::Reduction::Sum);
    case Loss::kMeanSquare:
      return at::mse_loss(output_, labels_, at::Reduction::Sum);
    case Loss::kBinary:
      return at::binary_cross_entropy_with_logits(output_, labels_, {}, {}, at::Reduction::Sum);
    case Loss::kOwn:
      break;
  }
  return output_ * static_cast<double>(samples_);
}

std::int64_t Predictions::correct() const {
  if (loss_ == Loss::kCrossEntropy) return output_.argmax(1).eq(labels_).sum().item<std::int64_t>();
  if (loss_ == Loss::kBinary) return output_.gt(0).eq(labels_.gt(0.5)).sum().item<std::int64_t>();
  return -1;
}

double Predictions::labels_per_sample() const {
  return static_cast<double>(count_) / static_cast<double>(samples_);
}

bool Predictions::has_top5() const { return loss_ == Loss::kCrossEntropy && output_.size(1) > 5; }

std::int64_t Predictions::correct_top5() const {
  const at::Tensor best = std::get<1>(output_.topk(5, 1));
  return best.eq(labels_.unsqueeze(1)).sum().item<std::int64_t>();
}

}  // namespace jabas
