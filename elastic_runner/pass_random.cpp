#include "elastic_runner/pass_random.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/bernoulli_native.h>
#include <ATen/ops/normal_native.h>
#include <ATen/ops/uniform_native.h>
#include <torch/library.h>

#include <optional>

#include "allocator/error.h"

namespace jabas {
namespace {

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
using GivenGenerator = std::optional<at::Generator>;
#else
using GivenGenerator = c10::optional<at::Generator>;
#endif

thread_local GivenGenerator generator_of_the_pass;

GivenGenerator chosen(const GivenGenerator& given) { return given ? given : generator_of_the_pass; }

at::Tensor& bernoulli_number(at::Tensor& self, double p, GivenGenerator given) {
  return at::native::bernoulli_(self, p, chosen(given));
}
at::Tensor& bernoulli_tensor(at::Tensor& self, const at::Tensor& p, GivenGenerator given) {
  return at::native::bernoulli_(self, p, chosen(given));
}
at::Tensor& uniform(at::Tensor& self, double from, double to, GivenGenerator given) {
  return at::native::uniform_(self, from, to, chosen(given));
}
at::Tensor& normal(at::Tensor& self, double mean, double deviation, GivenGenerator given) {
  return at::native::normal_(self, mean, deviation, chosen(given));
}

// LibTorch warns about every kernel that is replaced; here that is the intention.
class Silent : public c10::WarningHandler {
#if TORCH_VERSION_MAJOR >= 2
  void process(const c10::Warning&) override {}
#else
  void process(const c10::SourceLocation&, const std::string&, const bool) override {}
#endif
};

torch::Library replace_kernels() {
  Silent silent;
#if TORCH_VERSION_MAJOR >= 2
  const c10::WarningUtils::WarningHandlerGuard guard(&silent);
#else
  const c10::Warning::WarningHandlerGuard guard(&silent);
#endif
  torch::Library library = MAKE_TORCH_LIBRARY_IMPL(aten, CPU);
  library.impl("bernoulli_.float", TORCH_FN(bernoulli_number));
  library.impl("bernoulli_.Tensor", TORCH_FN(bernoulli_tensor));
  library.impl("uniform_", TORCH_FN(uniform));
  library.impl("normal_", TORCH_FN(normal));
  return library;
}

}  // namespace

PassRandom::PassRandom(RandomStream& stream) {
  // Only programs that run such models have them replaced, and once.
  static const torch::Library kernels = replace_kernels();
  JABAS_ASSERT(!generator_of_the_pass, "two passes on one thread");
  generator_of_the_pass = at::detail::createCPUGenerator(stream.next());
}

PassRandom::~PassRandom() { generator_of_the_pass.reset(); }

}  // namespace jabas
