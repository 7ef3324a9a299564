#include "engine/tactics/cpu/onednn/library.h"

#include <omp.h>

namespace enginery {
namespace {

dnnl::cpu_isa library_isa(CpuIsa isa) {
  switch (isa) {
    case CpuIsa::sse41:
      return dnnl::cpu_isa::sse41;
    case CpuIsa::avx:
      return dnnl::cpu_isa::avx;
    case CpuIsa::avx2:
      return dnnl::cpu_isa::avx2;
    case CpuIsa::avx512:
      return dnnl::cpu_isa::avx512_core;
    case CpuIsa::avx512_vnni:
      return dnnl::cpu_isa::avx512_core_vnni;
    case CpuIsa::avx512_bf16:
      return dnnl::cpu_isa::avx512_core_bf16;
    case CpuIsa::amx:
      return dnnl::cpu_isa::avx512_core_amx;
  }
  return dnnl::cpu_isa::sse41;
}

using Tag = dnnl::memory::format_tag;

Tag blocked_tag(size_t rank, int32_t block) {
  bool wide = block == 16;
  switch (rank) {
    case 3:
      return wide ? Tag::nCw16c : Tag::nCw8c;
    case 4:
      return wide ? Tag::nChw16c : Tag::nChw8c;
    default:
      return wide ? Tag::nCdhw16c : Tag::nCdhw8c;
  }
}

dnnl::memory::dims channels_last_strides(const Dims& dims, int64_t channels) {
  dnnl::memory::dims strides(dims.size(), 1);
  int64_t stride = channels;
  for (size_t d = dims.size(); d-- > 0;) {
    if (d == 1) continue;
    strides[d] = stride;
    stride *= dims[d];
  }
  return strides;
}

}  // namespace

Result<std::shared_ptr<const OnednnLibrary>> open_library(CpuIsa cap, int threads) {
  // Refused once a primitive exists; whether the wanted cap holds is asked below, so that a second
  // source with the same cap is fine.
  (void)dnnl::set_max_cpu_isa(library_isa(cap));
  if (dnnl::get_effective_cpu_isa() != library_isa(cap)) {
    return Error{ErrorCode::incompatible,
                 "oneDNN in this process already runs under another instruction-set cap: use one "
                 "process per CPU SKU"};
  }
  return dnnl_guarded("open oneDNN", [&]() -> Result<std::shared_ptr<const OnednnLibrary>> {
    auto library = std::make_shared<OnednnLibrary>();
    library->engine = dnnl::engine(dnnl::engine::kind::cpu, 0);
    library->isa = cap;
    library->threads = threads;
    const dnnl_version_t* v = dnnl_version();
    library->version =
        std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
    return std::shared_ptr<const OnednnLibrary>(library);
  });
}

ThreadCountScope::ThreadCountScope(int threads) : saved_(omp_get_max_threads()) {
  omp_set_num_threads(threads);
}
ThreadCountScope::~ThreadCountScope() {
  omp_set_num_threads(saved_);
}

Error to_error(const dnnl::error& error, const std::string& what) {
  ErrorCode code = error.status == dnnl_out_of_memory   ? ErrorCode::out_of_memory
                   : error.status == dnnl_unimplemented ? ErrorCode::unsupported
                                                        : ErrorCode::internal;
  return {code, what + ": oneDNN: " + error.message};
}

bool dnnl_supports(DataType type) {
  return type == DataType::float32 || type == DataType::bfloat16 || type == DataType::int8 ||
         type == DataType::uint8 || type == DataType::int32;
}

dnnl::memory::data_type dnnl_type(DataType type) {
  switch (type) {
    case DataType::bfloat16:
      return dnnl::memory::data_type::bf16;
    case DataType::int8:
      return dnnl::memory::data_type::s8;
    case DataType::uint8:
      return dnnl::memory::data_type::u8;
    case DataType::int32:
      return dnnl::memory::data_type::s32;
    default:
      return dnnl::memory::data_type::f32;
  }
}

MemoryDesc memory_desc(const Dims& dims, const Format& format) {
  if (dims.empty()) return MemoryDesc({1}, dnnl_type(format.type), dnnl::memory::dims{1});
  switch (format.layout.kind) {
    case LayoutKind::linear:
      return MemoryDesc(dims, dnnl_type(format.type), strides_of(dims));
    case LayoutKind::channels_last:
      return MemoryDesc(dims, dnnl_type(format.type),
                        channels_last_strides(dims, padded_channels(dims, format.layout)));
    case LayoutKind::blocked:
      break;
  }
  return MemoryDesc(dims, dnnl_type(format.type), blocked_tag(dims.size(), format.layout.block));
}

MemoryDesc any_layout_desc(const Dims& dims, DataType type) {
  return MemoryDesc(dims, dnnl_type(type), Tag::any);
}

}  // namespace enginery
