// NVRTC, the run-time compiler for kernel text: a table of functions and one call that compiles.
//
// Where: KernelCompiler (engine/kernels/cuda/compiler.h) calls it for the source `kernel`; cuDNN
// finds the same library loaded when it compiles a plan. Source: NVIDIA, NVRTC user guide.
#pragma once

#include <nvrtc.h>

#include <string>
#include <vector>

#include "engine/base/digest.h"
#include "engine/device/cuda/library.h"

#define ENGINERY_NVRTC_CALLS(CALL)                                                             \
  CALL(nvrtcVersion, (int*, int*))                                                             \
  CALL(nvrtcCreateProgram,                                                                     \
       (nvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*)) \
  CALL(nvrtcDestroyProgram, (nvrtcProgram*))                                                   \
  CALL(nvrtcCompileProgram, (nvrtcProgram, int, const char* const*))                           \
  CALL(nvrtcGetProgramLogSize, (nvrtcProgram, size_t*))                                        \
  CALL(nvrtcGetProgramLog, (nvrtcProgram, char*))                                              \
  CALL(nvrtcGetPTXSize, (nvrtcProgram, size_t*))                                               \
  CALL(nvrtcGetPTX, (nvrtcProgram, char*))                                                     \
  CALL(nvrtcGetCUBINSize, (nvrtcProgram, size_t*))                                             \
  CALL(nvrtcGetCUBIN, (nvrtcProgram, char*))                                                   \
  CALL(nvrtcGetNumSupportedArchs, (int*))                                                      \
  CALL(nvrtcGetSupportedArchs, (int*))

namespace enginery {

// cubin: machine code for one SM. ptx: what a driver translates for its own.
enum class CodeKind { cubin, ptx };

// Needs no GPU and no driver. Immutable, thread-safe: programs compile in parallel.
class Nvrtc {
 public:
  // The newest version that compiles for `compute_capability`: 13 first, then 12 (13 dropped
  // everything before 7.5). Errors: unavailable with what was tried.
  static Result<Nvrtc> open(int compute_capability);

  struct Output {
    Bytes code;
    std::string log;  // ptxas's registers and spills
  };
  // `text` in C++17 with the entries extern "C"; `options` after our own. Errors: internal with the
  // compiler's log (our own text must compile), out_of_memory.
  Result<Output> compile(const std::string& text, int compute_capability, CodeKind kind,
                         const std::vector<std::string>& options) const;
  // "12.9".
  std::string version() const { return std::to_string(major_) + "." + std::to_string(minor_); }
  int major() const { return major_; }

 private:
  bool serves(int compute_capability) const;
  Status check(nvrtcResult status, const char* call) const;
  struct Table {
#define ENGINERY_DECLARE(name, parameters) nvrtcResult(*name) parameters = nullptr;
    ENGINERY_NVRTC_CALLS(ENGINERY_DECLARE)
#undef ENGINERY_DECLARE
    const char* (*nvrtcGetErrorString)(nvrtcResult) = nullptr;
  } table_;
  int major_ = 0, minor_ = 0;
};

// "sm_90a", "compute_61": what NVRTC calls a target.
std::string nvrtc_target(int compute_capability, CodeKind kind);

}  // namespace enginery
