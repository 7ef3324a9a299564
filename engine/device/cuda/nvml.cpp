#include "engine/device/cuda/nvml.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <sstream>

namespace enginery {
namespace {

constexpr unsigned kMaxProcesses = 64;
constexpr int kNvmlClockSm = 1;

}  // namespace

Result<Nvml> Nvml::open() {
  TRY(auto library, SharedLibrary::open({"libnvidia-ml.so.1"}));
  Nvml nvml;
#define ENGINERY_LOAD(name, parameters) ENGINERY_LOAD_SYMBOL(nvml, library, name, #name);
  ENGINERY_NVML_CALLS(ENGINERY_LOAD)
#undef ENGINERY_LOAD
#define ENGINERY_LOAD(name, parameters)               \
  if (auto found = library.symbol(#name); found.ok()) \
    nvml.name = reinterpret_cast<decltype(nvml.name)>(*found);
  ENGINERY_NVML_LATER_CALLS(ENGINERY_LOAD)
#undef ENGINERY_LOAD
  if (int status = nvml.nvmlInit_v2(); status != 0) {
    return Error{ErrorCode::unavailable, "nvmlInit_v2: status " + std::to_string(status)};
  }
  return nvml;
}

std::string Nvml::driver_version() const {
  char text[96] = "";
  return nvmlSystemGetDriverVersion(text, sizeof text) == 0 ? text : "";
}

std::string Nvml::power_limit_w(NvmlHandle card) const {
  unsigned milliwatts = 0;
  const bool known = nvmlDeviceGetEnforcedPowerLimit && card &&
                     nvmlDeviceGetEnforcedPowerLimit(card, &milliwatts) == 0;
  return known ? std::to_string(milliwatts / 1000) : "unknown";
}

std::string Nvml::application_clock_mhz(NvmlHandle card) const {
  unsigned mhz = 0;
  const bool known = nvmlDeviceGetApplicationsClock && card &&
                     nvmlDeviceGetApplicationsClock(card, kNvmlClockSm, &mhz) == 0;
  return known ? std::to_string(mhz) : "unknown";
}

double Nvml::foreign_load(NvmlHandle card) const {
  if (!nvmlDeviceGetProcessUtilization || !card) return 0;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto since =
      std::chrono::duration_cast<std::chrono::microseconds>(now - std::chrono::seconds(1));
  std::vector<NvmlProcessUtilization> samples(kMaxProcesses);
  unsigned count = kMaxProcesses;
  if (nvmlDeviceGetProcessUtilization(card, samples.data(), &count,
                                      static_cast<unsigned long long>(since.count())) != 0)
    return 0;
  samples.resize(std::min(count, kMaxProcesses));
  return foreign_share(samples, static_cast<unsigned>(getpid()));
}

double foreign_share(const std::vector<NvmlProcessUtilization>& samples, unsigned own) {
  std::map<unsigned, unsigned> largest;
  for (const NvmlProcessUtilization& s : samples) largest[s.pid] = std::max(largest[s.pid], s.sm);
  if (!largest.contains(own)) return 0;
  double percent = 0;
  for (const auto& [pid, sm] : largest) percent += pid == own ? 0 : sm;
  return std::min(percent / 100, 1.0);
}

std::string kernel_module_version(std::string_view proc_text) {
  std::istringstream words(std::string(proc_text.substr(0, proc_text.find('\n'))));
  for (std::string word; words >> word;) {
    const bool is_version = word.find_first_not_of("0123456789.") == std::string::npos;
    if (is_version && word.find('.') != std::string::npos) return word;
  }
  return "";
}

}  // namespace enginery
