#include "engine/device/cuda/nvml.h"

#include <sstream>

namespace enginery {

Result<Nvml> Nvml::open() {
  TRY(auto library, SharedLibrary::open({"libnvidia-ml.so.1"}));
  Nvml nvml;
#define ENGINERY_LOAD(name, parameters) ENGINERY_LOAD_SYMBOL(nvml, library, name, #name);
  ENGINERY_NVML_CALLS(ENGINERY_LOAD)
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

std::string kernel_module_version(std::string_view proc_text) {
  std::istringstream words(std::string(proc_text.substr(0, proc_text.find('\n'))));
  for (std::string word; words >> word;) {
    const bool is_version = word.find_first_not_of("0123456789.") == std::string::npos;
    if (is_version && word.find('.') != std::string::npos) return word;
  }
  return "";
}

}  // namespace enginery
