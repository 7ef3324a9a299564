#include "engine/kernels/cpu/dispatch.h"

#include <algorithm>
#include <cstdlib>

namespace enginery {
namespace cpu_kernels {
extern const Kernels kernels_sse41, kernels_avx, kernels_avx2, kernels_avx512;
}

const cpu_kernels::Kernels& cpu_kernels_for(CpuIsa cap) {
  switch (cap) {
    case CpuIsa::sse41:
      return cpu_kernels::kernels_sse41;
    case CpuIsa::avx:
      return cpu_kernels::kernels_avx;
    case CpuIsa::avx2:
      return cpu_kernels::kernels_avx2;
    default:
      return cpu_kernels::kernels_avx512;
  }
}

void simplify_copy(cpu_kernels::CopyArguments& a) {
  using cpu_kernels::CopyLoop;
  CopyLoop* begin = a.loop;
  CopyLoop* end =
      std::remove_if(begin, begin + a.loops, [](const CopyLoop& l) { return l.extent == 1; });
  std::stable_sort(begin, end, [](const CopyLoop& x, const CopyLoop& y) {
    return std::abs(x.out_stride) > std::abs(y.out_stride);
  });
  int kept = 0;
  for (CopyLoop* l = begin; l != end; ++l) {
    bool joins = kept > 0 && begin[kept - 1].in_stride == l->extent * l->in_stride &&
                 begin[kept - 1].out_stride == l->extent * l->out_stride;
    if (joins)
      begin[kept - 1] = {begin[kept - 1].extent * l->extent, l->in_stride, l->out_stride};
    else
      begin[kept++] = *l;
  }
  if (kept == 0) begin[kept++] = {1, 1, 1};
  a.loops = kept;
}

}  // namespace enginery
