#include "engine/base/log.h"
#include "engine/tactics/cpu/kernel/cpu_kernel_source.h"
#include "engine/tactics/cpu/onednn/onednn_source.h"
#include "engine/tactics/cpu/reference/reference_source.h"
#include "engine/tactics/tactic.h"
#ifdef ENGINERY_HAVE_CUDA
#include "engine/kernels/cuda/code_folder.h"
#include "engine/tactics/cuda/cublaslt/cublaslt_source.h"
#include "engine/tactics/cuda/cudnn/cudnn_source.h"
#include "engine/tactics/cuda/host_step/host_step_source.h"
#include "engine/tactics/cuda/kernel/kernel_source.h"
#endif

namespace enginery {
namespace {

using MakeSource = Result<std::unique_ptr<TacticSource>> (*)(Device&);

struct SourceRow {
  std::string_view name;
  MakeSource make;
};

Result<std::unique_ptr<TacticSource>> make_onednn(Device& device) {
  return make_onednn_source(device.info());
}
Result<std::unique_ptr<TacticSource>> make_cpu_kernel(Device& device) {
  return make_cpu_kernel_source(device.info());
}
Result<std::unique_ptr<TacticSource>> make_reference(Device& device) {
  return make_reference_source(device.info());
}

#ifdef ENGINERY_HAVE_CUDA
Result<std::unique_ptr<TacticSource>> make_cuda_kernel(Device& device) {
  auto& cuda = static_cast<CudaDevice&>(device);
  KernelSourceOptions options;
  // Without a compiler there is nothing to keep; engines bring their code along.
  if (auto nvrtc = cuda.nvrtc(); nvrtc.ok())
    options.store = std::make_shared<CodeFolder>(code_folder("nvrtc-" + (*nvrtc)->version()));
  return make_kernel_source(cuda, options);
}
Result<std::unique_ptr<TacticSource>> make_cudnn(Device& device) {
  return make_cudnn_source(static_cast<CudaDevice&>(device));
}
Result<std::unique_ptr<TacticSource>> make_cublaslt(Device& device) {
  return make_cublaslt_source(static_cast<CudaDevice&>(device));
}
Result<std::unique_ptr<TacticSource>> make_host_step(Device& device) {
  return make_host_step_source(static_cast<CudaDevice&>(device));
}

// A card that is only compiled for has our kernels alone.
bool is_present(Device& device) {
  return static_cast<CudaDevice&>(device).present();
}
#endif

// In order of preference, the reference last.
std::vector<SourceRow> rows_of([[maybe_unused]] Device& device) {
  switch (device.info().kind) {
    case DeviceKind::cpu:
      return {{"kernel", make_cpu_kernel}, {"onednn", make_onednn}, {"reference", make_reference}};
    case DeviceKind::cuda:
#ifdef ENGINERY_HAVE_CUDA
      if (!is_present(device)) return {{"kernel", make_cuda_kernel}};
      return {{"kernel", make_cuda_kernel},
              {"cudnn", make_cudnn},
              {"cublaslt", make_cublaslt},
              {"reference", make_host_step}};
#else
      return {};
#endif
  }
  return {};
}

}  // namespace

Result<TacticSources> make_tactic_sources(Device& device, const SourceFilter& filter) {
  TacticSources sources;
  for (const SourceRow& row : rows_of(device)) {
    const std::string name(row.name);
    if (filter.without.contains(name) || (!filter.only.empty() && !filter.only.contains(name)))
      continue;
    auto source = row.make(device);
    // A library that this machine lacks is a source less, never a reason not to run.
    if (!source.ok() && source.error().code == ErrorCode::unavailable) {
      log_warning("tactic source " + std::string(row.name) +
                  " is left out: " + source.error().message);
      continue;
    }
    if (!source.ok()) return source.error().within("tactic source " + std::string(row.name));
    sources.push_back(std::move(*source));
  }
  return sources;
}

}  // namespace enginery
