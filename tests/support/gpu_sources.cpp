#include "tests/support/gpu_sources.h"

#include <cstdlib>

#include "engine/base/parallel.h"
#include "tests/support/comparison.h"
#ifdef ENGINERY_HAVE_CUDA
#include "engine/kernels/cuda/kernel_cache.h"
#include "engine/tactics/cuda/kernel/kernel_source.h"
#endif

namespace enginery {

std::set<Precision> precisions_of(const Device& device) {
  if (device.info().kind == DeviceKind::cpu) {
    return test_variable("ENGINERY_TEST_CPU_BF16", "") == "1"
               ? std::set<Precision>{Precision::fp32, Precision::bf16}
               : std::set<Precision>{Precision::fp32};
  }
  return {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16};
}

void show_every_kernel([[maybe_unused]] Device& device, [[maybe_unused]] int ptx,
                       [[maybe_unused]] TacticSources& sources) {
#ifdef ENGINERY_HAVE_CUDA
  if (device.info().kind != DeviceKind::cuda) return;
  KernelSourceOptions options;
  options.every_variant = true;
  if (ptx) {
    options.kind = CodeKind::ptx;
    options.compute_capability = ptx;
    sources.resize(1);
  }
  const char* folder = std::getenv("ENGINERY_TEST_PTX_FOLDER");
  if (ptx && folder) options.cache = std::make_shared<KernelCacheFolder>(folder);
  auto source = make_kernel_source(static_cast<CudaDevice&>(device), options);
  if (source.ok()) sources[0] = std::move(*source);
#endif
}

void compile_in_parallel(const TacticSource& source, const Problem& problem,
                         const std::vector<Tactic>& tactics) {
  if (source.name() != "kernel" || tactics.size() < 2) return;
  parallel_for(static_cast<int64_t>(tactics.size()),
               [&](int64_t i) { (void)source.compile(problem, tactics[static_cast<size_t>(i)]); });
}

}  // namespace enginery
