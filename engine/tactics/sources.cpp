#include "engine/base/log.h"
#include "engine/tactics/cpu/kernel/cpu_kernel_source.h"
#include "engine/tactics/cpu/onednn/onednn_source.h"
#include "engine/tactics/cpu/reference/reference_source.h"
#include "engine/tactics/cpu/widening/widening_source.h"
#include "engine/tactics/tactic.h"
#ifdef ENGINERY_HAVE_CUDA
#include "engine/kernels/cuda/kernel_cache.h"
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
  DeviceKind device;
  MakeSource make;
  bool needs_card = false;  // not for a card that this machine lacks and only compiles for
};

Result<std::unique_ptr<TacticSource>> make_onednn(Device& device) {
  TRY(auto source, make_onednn_source(device.info()));
  return widen_narrow_floats(std::move(source));
}
Result<std::unique_ptr<TacticSource>> make_cpu_kernel(Device& device) {
  TRY(auto source, make_cpu_kernel_source(device.info()));
  return widen_narrow_floats(std::move(source));
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
    options.cache =
        std::make_shared<KernelCacheFolder>(kernel_cache_folder("nvrtc-" + (*nvrtc)->version()));
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

bool is_present(Device& device) {
  return device.info().kind == DeviceKind::cpu || static_cast<CudaDevice&>(device).present();
}
#else
// Without CUDA's headers no such device can be opened, but a build for one may still be asked of
// the farm, so the names stay known.
constexpr MakeSource make_cuda_kernel = nullptr, make_cudnn = nullptr, make_cublaslt = nullptr,
                     make_host_step = nullptr;

bool is_present(Device&) {
  return true;
}
#endif

// THE list of sources: for each kind of device in order of preference, the reference last.
constexpr SourceRow kSources[] = {
    {"kernel", DeviceKind::cpu, make_cpu_kernel},
    {"onednn", DeviceKind::cpu, make_onednn},
    {"reference", DeviceKind::cpu, make_reference},

    {"kernel", DeviceKind::cuda, make_cuda_kernel},
    {"cudnn", DeviceKind::cuda, make_cudnn, true},
    {"cublaslt", DeviceKind::cuda, make_cublaslt, true},
    {"reference", DeviceKind::cuda, make_host_step, true},
};

bool serves(const SourceRow& row, Device& device, const SourceFilter& filter) {
  const std::string name(row.name);
  if (filter.without.contains(name)) return false;
  if (!filter.only.empty() && !filter.only.contains(name)) return false;
  return row.make && row.device == device.info().kind && (!row.needs_card || is_present(device));
}

}  // namespace

std::vector<std::string> tactic_source_names() {
  std::set<std::string> names;
  for (const SourceRow& row : kSources) names.emplace(row.name);
  return {names.begin(), names.end()};
}

Result<TacticSources> make_tactic_sources(Device& device, const SourceFilter& filter) {
  TacticSources sources;
  for (const SourceRow& row : kSources) {
    if (!serves(row, device, filter)) continue;
    auto source = row.make(device);
    // A missing library only costs its tactics: the other sources still serve every problem.
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
