#include "engine/device/cuda/nvrtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

namespace enginery {
namespace {

// NVRTC opens its built-ins by bare name when it compiles; some builds lack the RUNPATH to find
// them beside it.
void preload_builtins(void* symbol_of_library, int major, int minor) {
  Dl_info info{};
  if (!dladdr(symbol_of_library, &info) || !info.dli_fname) return;
  auto folder = std::filesystem::path(info.dli_fname).parent_path();
  std::string name = "libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor);
  dlopen((folder / name).c_str(), RTLD_NOW | RTLD_GLOBAL);
}

}  // namespace

std::string nvrtc_target(int compute_capability, CodeKind kind) {
  std::string number = std::to_string(compute_capability);
  return (kind == CodeKind::cubin ? "sm_" : "compute_") + number +
         (compute_capability == 90 ? "a" : "");
}

Result<Nvrtc> Nvrtc::open(int compute_capability) {
  std::string tried;
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
    auto library = SharedLibrary::open({name});
    if (!library.ok()) {
      tried += (tried.empty() ? "" : "; ") + library.error().message;
      continue;
    }
    Nvrtc nvrtc;
    const SharedLibrary& opened = library.value();
#define ENGINERY_LOAD(name, parameters) ENGINERY_LOAD_SYMBOL(nvrtc.table_, opened, name, #name);
    ENGINERY_NVRTC_CALLS(ENGINERY_LOAD)
#undef ENGINERY_LOAD
    ENGINERY_LOAD_SYMBOL(nvrtc.table_, opened, nvrtcGetErrorString, "nvrtcGetErrorString");
    CHECK_OK(nvrtc.check(nvrtc.table_.nvrtcVersion(&nvrtc.major_, &nvrtc.minor_), "nvrtcVersion"));
    if (nvrtc.serves(compute_capability)) {
      preload_builtins(reinterpret_cast<void*>(nvrtc.table_.nvrtcVersion), nvrtc.major_,
                       nvrtc.minor_);
      return nvrtc;
    }
    tried += (tried.empty() ? "" : "; ") + opened.path() + " (" + nvrtc.version() +
             ") no longer compiles for sm_" + std::to_string(compute_capability);
  }
  return Error{ErrorCode::unavailable, "find an NVRTC that compiles for sm_" +
                                           std::to_string(compute_capability) + ": " + tried +
                                           "; nvidia-cuda-nvrtc-cu12 from PyPI serves every SM"};
}

bool Nvrtc::serves(int compute_capability) const {
  int count = 0;
  if (table_.nvrtcGetNumSupportedArchs(&count) != NVRTC_SUCCESS || count <= 0) return false;
  std::vector<int> archs(static_cast<size_t>(count));
  if (table_.nvrtcGetSupportedArchs(archs.data()) != NVRTC_SUCCESS) return false;
  return std::find(archs.begin(), archs.end(), compute_capability) != archs.end();
}

Status Nvrtc::check(nvrtcResult status, const char* call) const {
  if (status == NVRTC_SUCCESS) return {};
  return Error{status == NVRTC_ERROR_OUT_OF_MEMORY ? ErrorCode::out_of_memory : ErrorCode::internal,
               std::string(call) + ": " + table_.nvrtcGetErrorString(status)};
}

Result<Nvrtc::Output> Nvrtc::compile(const std::string& text, int compute_capability, CodeKind kind,
                                     const std::vector<std::string>& options) const {
  nvrtcProgram program = nullptr;
  CHECK_OK(
      check(table_.nvrtcCreateProgram(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr),
            "nvrtcCreateProgram"));
  struct Destroy {
    const Table& table;
    nvrtcProgram program;
    ~Destroy() { table.nvrtcDestroyProgram(&program); }
  } destroy{table_, program};
  std::vector<std::string> all{"--gpu-architecture=" + nvrtc_target(compute_capability, kind),
                               "-minimal", "-std=c++17", "--modify-stack-limit=false"};
  if (kind == CodeKind::cubin) all.push_back("-Xptxas=-v");
  all.insert(all.end(), options.begin(), options.end());
  std::vector<const char*> pointers;
  for (const std::string& option : all) pointers.push_back(option.c_str());
  nvrtcResult compiled =
      table_.nvrtcCompileProgram(program, static_cast<int>(pointers.size()), pointers.data());
  Output output;
  size_t bytes = 0;
  if (table_.nvrtcGetProgramLogSize(program, &bytes) == NVRTC_SUCCESS && bytes > 1) {
    output.log.resize(bytes);
    table_.nvrtcGetProgramLog(program, output.log.data());
    output.log.resize(bytes - 1);
  }
  if (compiled != NVRTC_SUCCESS) {
    return check(compiled, ("nvrtcCompileProgram(" + all.front() + ")").c_str())
        .error()
        .within("compile a kernel: " + output.log);
  }
  auto size = kind == CodeKind::cubin ? table_.nvrtcGetCUBINSize : table_.nvrtcGetPTXSize;
  auto get = kind == CodeKind::cubin ? table_.nvrtcGetCUBIN : table_.nvrtcGetPTX;
  CHECK_OK(check(size(program, &bytes), "nvrtcGetCUBINSize"));
  output.code.resize(bytes);
  CHECK_OK(check(get(program, output.code.data()), "nvrtcGetCUBIN"));
  return output;
}

}  // namespace enginery
