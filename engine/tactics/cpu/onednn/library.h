// The library handle that everything in this folder shares, its types in terms of ours, its
// exceptions as errors.
//
// Where: the only header that includes oneDNN's. What throws says so; everything else is safe from
// any thread.
#pragma once

#include <dnnl.hpp>
#include <memory>
#include <string>

#include "engine/device/sku_table.h"
#include "engine/tactics/problem.h"

namespace enginery {

// The library as one device uses it; lives as long as a source or anything that it prepared.
struct OnednnLibrary {
  dnnl::engine engine;  // the CPU
  CpuIsa isa = CpuIsa::sse41;
  int threads = 1;
  std::string version;  // "2.6.3"
  // Channels of one block in the layouts that this instruction set likes: 16 from AVX-512 up,
  // else 8.
  int32_t block() const { return isa >= CpuIsa::avx512 ? 16 : 8; }
  // Whether products in bfloat16 are worth offering. With AVX-512 BF16 they took half as long as in
  // float32 on a Zen 4 and twice as long on a Xeon; without instructions for them five times.
  bool multiplies_bfloat16() const { return enginery::multiplies_bfloat16(isa); }
};

// Caps the library's instruction set for the whole process, once and for all. Errors: incompatible
// where it already runs under another cap.
Result<std::shared_ptr<const OnednnLibrary>> open_library(CpuIsa cap, int threads);

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

// The library's exception as a value: out_of_memory, unsupported (not implemented) or internal.
Error to_error(const dnnl::error& error, const std::string& what);

// f's result, with oneDNN's exceptions turned into an Error that begins with `what`.
template <typename F>
auto dnnl_guarded(const std::string& what, F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (const dnnl::error& error) {
    return to_error(error, what);
  }
}

using MemoryDesc = dnnl::memory::desc;

// Whether tensors of the type can be handed to the library.
bool dnnl_supports(DataType type);
// Its name of the type. Requires dnnl_supports.
dnnl::memory::data_type dnnl_type(DataType type);
// A tensor of `dims` (rank 1 to 6) as it lies in `format`. Requires dnnl_supports and a layout fit
// for the rank.
MemoryDesc memory_desc(const Dims& dims, const Format& format);
// The same with the layout left to the implementation.
MemoryDesc any_layout_desc(const Dims& dims, DataType type);

}  // namespace enginery
