// What the benchmarks on a GPU begin and end with.
#pragma once

#include <cstdio>
#include <memory>

#include "engine/device/sku_table.h"
#include "engine/tactics/tactic.h"

namespace enginery {

struct Gpu {
  std::unique_ptr<Device> device;
  TacticSources sources;
};

// The first visible one. Errors: unavailable (there is none); whatever opening it fails with.
inline Result<Gpu> open_gpu(const SourceFilter& filter) {
  auto skus = local_skus();
  if (skus.empty() || skus[0].kind != DeviceKind::cuda)
    return Error{ErrorCode::unavailable, "no GPU is visible here"};
  Gpu gpu;
  TRY(gpu.device, open_device(skus[0].name, {}));
  TRY(gpu.sources, make_tactic_sources(*gpu.device, filter));
  return gpu;
}

// The program's exit status; says what went wrong.
inline int exit_status(const Status& status) {
  if (!status.ok()) std::fprintf(stderr, "error: %s\n", status.error().message.c_str());
  return status.ok() ? 0 : 1;
}

}  // namespace enginery
