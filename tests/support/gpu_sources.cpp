#include "tests/support/gpu_sources.h"

#include <atomic>
#include <cstdlib>
#include <thread>

#ifdef ENGINERY_HAVE_CUDA
#include "engine/tactics/cuda_kernel/kernel_source.h"
#include "tests/support/code_folder.h"
#endif

namespace enginery {

std::set<Precision> precisions_of(const Device& device) {
  if (device.info().kind == DeviceKind::cpu) return {Precision::fp32};
  return {Precision::fp32, Precision::tf32, Precision::fp16};
}

void show_every_kernel([[maybe_unused]] Device& device, [[maybe_unused]] int ptx, [[maybe_unused]] TacticSources& sources) {
#ifdef ENGINERY_HAVE_CUDA
  if (device.info().kind != DeviceKind::cuda) return;
  KernelSourceOptions options;
  options.every_variant = true;
  if (ptx) options.kind = CodeKind::ptx, options.compute_capability = ptx, sources.resize(1);
  // Outlives the sources, which outlive every test.
  const char* folder = std::getenv("ENGINERY_TEST_PTX_FOLDER");
  static CodeFolder made_elsewhere(folder ? folder : "");
  if (ptx && folder) options.store = &made_elsewhere;
  auto source = make_kernel_source(static_cast<CudaDevice&>(device), options);
  if (source.ok()) sources[0] = std::move(*source);
#endif
}

void compile_in_parallel(const TacticSource& source, const Problem& problem, const std::vector<Tactic>& tactics) {
  if (source.name() != "kernel" || tactics.size() < 2) return;
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < tactics.size(); i = next++) (void)source.compile(problem, tactics[i]);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  for (std::thread& t : threads) t.join();
}

}  // namespace enginery
