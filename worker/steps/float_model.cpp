#include "worker/steps/float_model.h"

#include "engine/base/clock.h"
#include "engine/options/target_options.h"

namespace enginery {

Result<LoadedModel> load_in_float(const BuildSessionSpec& spec) {
  if (!spec.model) return Error{ErrorCode::internal, "the step was started without its model"};
  BuildOptions options = spec.options;
  options.precisions = {Precision::fp32};
  options.skip_passes.clear();
  options.layer_precisions.clear();
  PassOptions none;
  none.list = {};
  return load_model({spec.model_file, spec.model, std::nullopt}, spec.name, options, none);
}

WatchOptions float_device(const StepContext& step) {
  const BuildSessionSpec& spec = step.session.spec();
  WatchOptions out;
  if (is_cpu_sku(spec.sku)) out.sku = spec.sku;
  out.threads = spec.options.threads;
  return out;
}

RowProgress progress_of(const StepContext& step, const std::string& phase) {
  const Nanoseconds start = SystemClock().monotonic();
  return [&step, phase, start](int64_t done, int64_t total) -> Status {
    if (step.hooks.cancelled()) return Error{ErrorCode::cancelled, phase + ": cancelled"};
    const double seconds = to_seconds(SystemClock().monotonic() - start);
    const double left =
        done > 0 ? seconds * static_cast<double>(total - done) / static_cast<double>(done) : 0;
    step.hooks.progress({phase, static_cast<uint64_t>(done), static_cast<uint64_t>(total), left});
    return {};
  };
}

}  // namespace enginery
