#include "engine/device/format_convert.h"

#include <cstring>

#include "engine/base/parallel.h"

namespace enginery {
namespace {

constexpr int64_t kPiece = 1 << 18;  // elements moved by one thread at a time

// f(T{}) with an unsigned type as wide as an element.
template <typename F>
void with_element(DataType type, F&& f) {
  switch (element_bytes(type)) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

// Whether elements lie as in a tensor: in order, without gaps.
bool is_dense(const Dims& dims, const Format& format) {
  const int64_t volume_bytes = volume(dims) * element_bytes(format.type);
  return (format.layout.kind == LayoutKind::linear || dims.size() < 3) &&
         physical_bytes(dims, format) == volume_bytes;
}

}  // namespace

Placement::Placement(const Dims& dims, const Layout& layout) {
  size_t rank = dims.size();
  bool linear = layout.kind == LayoutKind::linear || rank < 3;
  bool blocked = !linear && layout.kind == LayoutKind::blocked;
  int64_t block = blocked ? layout.block : 1;
  int64_t padded = layout.pitch ? layout.pitch : padded_channels(dims, layout);
  steps_.resize(rank);
  int64_t stride = linear ? 1 : blocked ? block : padded;
  for (size_t d = rank; d-- > 0;) {
    Step& step = steps_[rank - 1 - d];
    if (!linear && d == 1) {
      step = {dims[1], blocked ? stride : 1, 1, block};
      if (blocked) stride *= padded / block;
      continue;
    }
    step = {dims[d], stride, 0, 1};
    stride *= linear && d == 1 ? padded : dims[d];
  }
}

int64_t Placement::offset(int64_t index) const {
  int64_t out = 0;
  for (const Step& step : steps_) {
    int64_t i = index % step.size;
    index /= step.size;
    out += step.block == 1 ? i * step.stride
                           : i / step.block * step.stride + i % step.block * step.block_stride;
  }
  return out;
}

void to_physical(const Tensor& tensor, const Format& format, void* storage) {
  Tensor typed = convert(tensor, format.type);
  size_t bytes = static_cast<size_t>(physical_bytes(tensor.dims(), format));
  if (bytes == 0) return;
  if (is_dense(tensor.dims(), format)) {
    std::memcpy(storage, typed.raw(), bytes);
    return;
  }
  if (!has_pitch(format)) std::memset(storage, 0, bytes);
  Placement placement(tensor.dims(), format.layout);
  with_element(format.type, [&](auto element) {
    using T = decltype(element);
    auto* from = static_cast<const T*>(typed.raw());
    auto* to = static_cast<T*>(storage);
    parallel_ranges(typed.size(), kPiece, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[placement.offset(i)] = from[i];
    });
  });
}

Tensor from_physical(const void* storage, const Dims& dims, const Format& format) {
  Tensor out(format.type, dims);
  if (is_dense(dims, format)) {
    if (out.bytes() > 0)
      std::memcpy(out.mutable_bytes(), storage, static_cast<size_t>(out.bytes()));
    return out;
  }
  Placement placement(dims, format.layout);
  with_element(format.type, [&](auto element) {
    using T = decltype(element);
    auto* from = static_cast<const T*>(storage);
    auto* to = static_cast<T*>(out.mutable_bytes());
    parallel_ranges(out.size(), kPiece, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = from[placement.offset(i)];
    });
  });
  return out;
}

}  // namespace enginery
