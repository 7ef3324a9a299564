// A convolution's geometry and weights in the library's terms.
//
// Where: between the operator and the recipes that describe convolutions, in floats or in integers.
// Any thread.
#pragma once

#include "engine/tactics/cpu/onednn/library.h"

namespace enginery {

// The geometry of a convolution or deconvolution (dilation counts from 0).
struct ConvolutionGeometry {
  dnnl::memory::dims strides, dilations, pads_begin, pads_end;
};

template <typename O>
ConvolutionGeometry geometry_of(const O& op) {
  ConvolutionGeometry g{op.strides, op.dilations, op.pads_begin, op.pads_end};
  for (int64_t& d : g.dilations) --d;
  return g;
}

// Weights [K, C/g, ...] (deconvolution: [C, K/g, ...]) as the library's [g, K/g, C/g, ...] or [K,
// C, ...].
inline Dims library_weight_dims(Dims w, int64_t groups, bool transposed) {
  if (groups == 1) {
    if (transposed) std::swap(w[0], w[1]);
    return w;
  }
  Dims out{groups, w[0] / groups, w[1]};
  if (transposed) std::swap(out[1], out[2]);
  out.insert(out.end(), w.begin() + 2, w.end());
  return out;
}

// How the weights lie in the model's file, in terms of library_weight_dims.
inline MemoryDesc stored_weights(const Dims& dims, DataType type, int64_t groups, bool transposed) {
  if (!transposed) return memory_desc(dims, Format{type, {}});
  const size_t out = groups == 1 ? 0 : 1;
  Dims stored = dims;
  std::swap(stored[out], stored[out + 1]);
  Dims strides = strides_of(stored);
  std::swap(strides[out], strides[out + 1]);
  return MemoryDesc(dims, dnnl_type(type), strides);
}

}  // namespace enginery
