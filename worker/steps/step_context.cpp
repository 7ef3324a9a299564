#include "worker/steps/step_context.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "engine/base/clock.h"
#include "engine/compile/selection_record.h"
#include "engine/options/toolchain.h"
#include "tuner/calibrate/table.h"
#include "worker/runner/device_wait.h"

namespace enginery {
namespace {

std::string utc_now() {
  const std::time_t now = static_cast<std::time_t>(to_seconds(SystemClock().wall_time()));
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  const size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text, size);
}

void add_ceilings(const Bytes& choices, Properties& facts) {
  const auto record = parse_selection(choices);
  if (!record.ok()) return;
  for (const auto& [name, value] : record->ceilings) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    facts.emplace_back("ceiling." + name, text);
  }
}

}  // namespace

bool is_read_by_a_step(const std::string& name, StepTable table) {
  return std::ranges::any_of(table, [&](const Step& step) {
    return std::ranges::count(step.reads, name) + std::ranges::count(step.takes, name) > 0;
  });
}

Result<std::shared_ptr<const Bytes>> input_named(const StepContext& step, const std::string& name) {
  const auto found = step.inputs.find(name);
  if (found == step.inputs.end() || !found->second) {
    return Error{ErrorCode::internal, "the step was started without its input '" + name + "'"};
  }
  return found->second;
}

Result<DeviceLock> lock_device(const StepContext& step, const DeviceInfo& info,
                               const Progress& phase) {
  if (step.device_locked) return DeviceLock::held_elsewhere();
  TRY(DeviceLock lock,
      wait_for_device(info.physical_id, {step.hooks.progress, step.hooks.cancelled}));
  step.hooks.progress(phase);
  return lock;
}

Provenance make_provenance(const StepContext& step, const Digest& content, const Profile& profile) {
  Provenance out;
  out.facts = {{"builder", builder_name()},
               {"content", content.text()},
               {"model", step.session.spec().model_digest.text()}};
  if (const auto choices = step.inputs.find("choices"); choices != step.inputs.end()) {
    out.facts.emplace_back("choices", sha256(*choices->second).text());
    add_ceilings(*choices->second, out.facts);
  }
  if (const BuildSessionSpec& spec = step.session.spec(); spec.calibration) {
    out.facts.emplace_back("calibration", sha256(*spec.calibration).text());
    if (!spec.options.calibrator.empty())
      out.facts.emplace_back("calibrator", spec.options.calibrator);
    if (holds_channel_means(*spec.calibration)) out.facts.emplace_back("bias_correction", "true");
  }
  if (!step.worker.empty()) out.facts.emplace_back("worker", step.worker);
  out.facts.emplace_back("built", utc_now());
  if (auto target = step.session.target(); target.ok()) {
    const DeviceInfo& info = (*target)->device->info();
    out.hardware = info.hardware;
    out.facts.emplace_back("device", info.name);
    for (const auto& [name, value] : info.software)
      out.facts.emplace_back("software." + name, value);
  }
  out.step_us = profile.step_us;
  out.median_us = profile.median_us;
  return out;
}

}  // namespace enginery
