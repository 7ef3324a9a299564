// SharedLibrary: one dlopened library. Why: the same binary must start on machines that have none
// of CUDA's.
//
// Where: below the tables of driver.h, nvml.h, nvrtc.h, cudnn_library.h and cublaslt_library.h.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"

namespace enginery {

// Owns the handle; never unloaded (CUDA's libraries do not survive it), so copies are plain.
// Thread-safe.
class SharedLibrary {
 public:
  // The first of `names` that opens. Each is tried by bare name, then in the folders of
  // library_folders(). Errors: unavailable, with every name tried and the loader's last reason.
  static Result<SharedLibrary> open(const std::vector<std::string>& names);
  // Errors: unavailable (the library is older than the call).
  Result<void*> symbol(const char* name) const;
  const std::string& path() const { return path_; }

 private:
  void* handle_ = nullptr;
  std::string path_;
};

// Where CUDA's libraries may lie beside the loader's own path: $ENGINERY_CUDA_LIBRARIES
// (colon-separated), the toolkit's folders, and the lib folders of NVIDIA's Python wheels in
// $VIRTUAL_ENV and beside the python3 of PATH.
std::vector<std::string> library_folders();

}  // namespace enginery

// Fills one member of a function table. The symbol's text is given apart: headers rename some calls
// by macro.
#define ENGINERY_LOAD_SYMBOL(table, library, member, text)                        \
  do {                                                                            \
    auto symbol_ = (library).symbol(text);                                        \
    if (!symbol_.ok()) return std::move(symbol_).error();                         \
    (table).member = reinterpret_cast<decltype((table).member)>(symbol_.value()); \
  } while (false)
