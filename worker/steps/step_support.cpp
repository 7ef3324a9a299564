#include "worker/steps/step_support.h"

#include <cstdlib>
#include <ctime>

#include "engine/base/clock.h"

namespace enginery {
namespace {

constexpr std::chrono::minutes kMaxWait{
    25};  // below the coordinator's limit on a step without progress

std::string utc_now() {
  const std::time_t now = static_cast<std::time_t>(to_seconds(SystemClock().wall_time()));
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  const size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text, size);
}

}  // namespace

Result<std::shared_ptr<const Bytes>> input_named(const StepInputs& inputs,
                                                 const std::string& name) {
  const auto found = inputs.find(name);
  if (found == inputs.end() || !found->second) {
    return Error{ErrorCode::internal, "the step was started without its input '" + name + "'"};
  }
  return found->second;
}

Result<DeviceLock> lock_device(const DeviceInfo& info, const StepHooks& hooks) {
  DeviceLockOptions options;
  options.timeout = kMaxWait;
  if (const char* folder = std::getenv("ENGINERY_LOCKS")) options.folder = folder;
  options.cancelled = hooks.cancelled;
  options.waiting = [&] { hooks.progress({"waiting for the device", 0, 0}); };
  return DeviceLock::acquire(info.physical_id, options);
}

Provenance make_provenance(BuildSession& bench, const Digest& content, const StepInputs& inputs,
                           const std::string& worker, const Profile& profile) {
  Provenance out;
  out.facts = {{"builder", builder_name()},
               {"content", content.text()},
               {"model", bench.spec().model_digest.text()}};
  if (const auto choices = inputs.find("choices"); choices != inputs.end()) {
    out.facts.emplace_back("choices", sha256(*choices->second).text());
  }
  if (!worker.empty()) out.facts.emplace_back("worker", worker);
  out.facts.emplace_back("built", utc_now());
  if (auto target = bench.target(); target.ok()) {
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
