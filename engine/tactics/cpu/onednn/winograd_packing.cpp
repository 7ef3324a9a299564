#include "engine/tactics/cpu/onednn/winograd_packing.h"

#include <algorithm>
#include <array>

namespace enginery {
namespace {

constexpr int64_t kKernel = 3;     // rows and columns of a kernel
constexpr int64_t kTransform = 4;  // and of what it becomes
constexpr int64_t kMaxBlock = 16;

// A number for each output channel of a block: what vector units take at once.
using Lanes = std::array<float, kMaxBlock>;

// The product of G = [1 0 0; 1/2 1/2 1/2; 1/2 -1/2 1/2; 0 0 1] and three numbers a lane.
void multiply_by_g(const Lanes& a, const Lanes& b, const Lanes& c, Lanes* out, int64_t pitch) {
  out[0] = a;
  for (int64_t o = 0; o < kMaxBlock; ++o) {
    const auto lane = static_cast<size_t>(o);
    const float ends = 0.5F * (a[lane] + c[lane]);
    const float middle = 0.5F * b[lane];
    out[pitch][lane] = ends + middle;
    out[2 * pitch][lane] = ends - middle;
  }
  out[3 * pitch] = c;
}

// The transformed kernels of one input channel, row by row.
using Transformed = std::array<Lanes, kTransform * kTransform>;

void transform_kernels(const std::array<Lanes, kKernel * kKernel>& kernels, Transformed& out) {
  std::array<Lanes, kKernel * kTransform> rows;
  for (size_t h = 0; h < kKernel; ++h) {
    multiply_by_g(kernels[h * kKernel], kernels[h * kKernel + 1], kernels[h * kKernel + 2],
                  &rows[h * kTransform], 1);
  }
  for (size_t w = 0; w < kTransform; ++w) {
    multiply_by_g(rows[w], rows[kTransform + w], rows[2 * kTransform + w], &out[w], kTransform);
  }
}

// Where the layouts put a block of output channels of one input channel, within one of the 16
// matrices. Both are [O / chunk][I][chunk / block][block], with a chunk of one block (aaOio) or
// of oc2_block blocks (aaOBiOo).
int64_t offset_of(const dnnl_wino_desc_t& layout, int64_t block, int64_t input) {
  const int64_t blocks = layout.wino_format == dnnl_wino_wei_aaOio ? 1 : layout.oc2_block;
  const int64_t chunk = block / blocks;
  return ((chunk * layout.ic + input) * blocks + block % blocks) * layout.oc_block;
}

}  // namespace

bool packs_winograd(const MemoryDesc& source, const MemoryDesc& wanted) {
  const dnnl_memory_desc_t& to = wanted.data;
  if (to.format_kind != dnnl_format_kind_wino || to.data_type != dnnl_f32) return false;
  const dnnl_wino_desc_t& layout = to.format_desc.wino_desc;
  const bool known = layout.wino_format == dnnl_wino_wei_aaOio ||
                     (layout.wino_format == dnnl_wino_wei_aaOBiOo && layout.oc2_block > 0);
  if (!known || layout.r != kKernel || layout.alpha != kTransform) return false;
  const dnnl::memory::dims dims = source.dims();
  if (dims.size() != 4 || dims[0] > layout.oc || dims[1] > layout.ic) return false;
  const MemoryDesc plain({dims[0], dims[1], kKernel, kKernel}, dnnl::memory::data_type::f32,
                         dnnl::memory::format_tag::oihw);
  const size_t bytes = sizeof(float) * kTransform * kTransform * static_cast<size_t>(layout.oc) *
                       static_cast<size_t>(layout.ic);
  return source == plain && layout.oc_block > 0 && layout.oc_block <= kMaxBlock &&
         layout.oc % layout.oc_block == 0 && wanted.get_size() == bytes;
}

void pack_winograd(const MemoryDesc& source, const MemoryDesc& wanted, const float* weights,
                   float* packed) {
  const dnnl_wino_desc_t& layout = wanted.data.format_desc.wino_desc;
  const int64_t outputs = source.data.dims[0], inputs = source.data.dims[1];
  const int64_t matrix = static_cast<int64_t>(layout.oc) * layout.ic;
  for (int64_t block = 0; block < layout.oc / layout.oc_block; ++block) {
    const int64_t first = block * layout.oc_block;
    const int64_t lanes = std::clamp<int64_t>(outputs - first, 0, layout.oc_block);
    for (int64_t input = 0; input < layout.ic; ++input) {
      std::array<Lanes, kKernel * kKernel> kernels{};
      for (int64_t o = 0; input < inputs && o < lanes; ++o) {
        const float* kernel = weights + ((first + o) * inputs + input) * kKernel * kKernel;
        for (size_t k = 0; k < kernels.size(); ++k) kernels[k][static_cast<size_t>(o)] = kernel[k];
      }
      Transformed transformed;
      transform_kernels(kernels, transformed);
      float* to = packed + offset_of(layout, block, input);
      for (size_t m = 0; m < transformed.size(); ++m)
        std::copy_n(transformed[m].data(), layout.oc_block, to + static_cast<int64_t>(m) * matrix);
    }
  }
}

}  // namespace enginery
