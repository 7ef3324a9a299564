// The library handle that everything in this folder shares, its types in terms of ours, its
// exceptions as errors.
#pragma once

#include <dnnl.hpp>
#include <memory>
#include <string>

#include "engine/device/sku_table.h"
#include "engine/tactics/problem.h"

namespace enginery::onednn {

struct Library {
  dnnl::engine engine;
  CpuIsa isa = CpuIsa::sse41;
  int threads = 1;
  std::string version;  // "2.6.3"
  // Channels of one block in the layouts that this instruction set likes: 16 from AVX-512 up,
  // else 8.
  int32_t block() const { return isa >= CpuIsa::avx512 ? 16 : 8; }
};

// Sets and checks the process's cap. Errors: incompatible.
Result<std::shared_ptr<const Library>> open_library(CpuIsa cap, int threads);

// While it lives the calling thread's OpenMP regions have `threads` threads: the library builds
// that number into every primitive that it describes.
class ThreadCountScope {
 public:
  explicit ThreadCountScope(int threads);
  ~ThreadCountScope();
  ThreadCountScope(const ThreadCountScope&) = delete;
  ThreadCountScope& operator=(const ThreadCountScope&) = delete;

 private:
  const int saved_;
};

Error to_error(const dnnl::error& error, const std::string& what);

// f's result, with oneDNN's exceptions turned into an Error that begins with `what`.
template <typename F>
auto guarded(const std::string& what, F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (const dnnl::error& error) {
    return to_error(error, what);
  }
}

using Descriptor = dnnl::memory::desc;

bool supports_type(DataType type);
dnnl::memory::data_type data_type(DataType type);
// A tensor of `dims` (rank 1 to 6) as it lies in `format`. Requires supports_type and a layout fit
// for the rank.
Descriptor descriptor(const Dims& dims, const Format& format);
// The same with the layout left to the implementation.
Descriptor any_layout(const Dims& dims, DataType type);

}  // namespace enginery::onednn
