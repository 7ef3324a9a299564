#include "engine/tactics/shapes/strided_copy.h"

#include <algorithm>
#include <cstdlib>

#include "engine/ops/slicing.h"
#include "engine/tactics/shapes/view.h"

namespace enginery {
namespace {

using Copies = Result<std::vector<StridedCopy>>;

Error no_copy(const std::string& reason) {
  return {ErrorCode::unsupported, reason};
}

StridedCopy copy_between(const std::vector<Axis>& from, const std::vector<Axis>& to) {
  StridedCopy copy;
  for (size_t i = 0; i < from.size(); ++i)
    copy.loops.push_back({from[i].extent, from[i].stride, to[i].stride});
  return copy;
}

Copies transpose_copies(const Problem& p, const Transpose& op, const Layout& layout) {
  if (layout.kind != LayoutKind::linear) return no_copy("transposes of linear tensors only");
  const Dims& in = input_dims(p, 0);
  const std::vector<Axis> from = axes_of(in, layout);
  std::vector<Axis> permuted;
  for (size_t axis : transposed_axes(op, in.size())) permuted.push_back(from[axis]);
  if (permuted.empty()) permuted = from;
  return std::vector{copy_between(permuted, axes_of(output_dims(p), layout))};
}

// Where the part that begins at `at` along dimension `axis` starts in the whole.
int64_t part_offset(const std::vector<Axis>& whole, size_t axis, int64_t at, int64_t block) {
  if (block == 0) return at * whole[axis].stride;
  if (axis == 1) return at / block * whole[1].stride;
  return at * whole[axis == 0 ? 0 : axis + 1].stride;
}

enum class Direction { join, cut };

// Concat and Split: the boxes of `whole` that its parts are, side by side along `axis`.
std::vector<StridedCopy> part_copies(const Dims& whole, const std::vector<TensorDesc>& parts,
                                     int64_t axis, const Layout& layout, Direction direction) {
  const auto along = static_cast<size_t>(wrapped(axis, whole.size()));
  const int64_t block = layout.kind == LayoutKind::blocked ? layout.block : 0;
  const std::vector<Axis> whole_axes = axes_of(whole, layout, block);
  const bool join = direction == Direction::join;
  std::vector<StridedCopy> copies;
  int64_t at = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Dims& part = parts[i].type.dims;
    const std::vector<Axis> part_axes = axes_of(part, layout, block);
    std::vector<Axis> box = whole_axes;
    for (size_t d = 0; d < box.size(); ++d) box[d].extent = part_axes[d].extent;
    StridedCopy copy = join ? copy_between(part_axes, box) : copy_between(box, part_axes);
    (join ? copy.out_offset : copy.in_offset) = part_offset(whole_axes, along, at, block);
    (join ? copy.input : copy.output) = static_cast<int>(i);
    if (volume(part) > 0) copies.push_back(std::move(copy));
    at += part[along];
  }
  return copies;
}

Copies slice_copies(const Problem& p, const Layout& layout) {
  if (layout.kind == LayoutKind::blocked) return no_copy("a slice of a blocked tensor");
  std::vector<std::vector<int64_t>> bounds(5);  // by input: x, starts, ends, axes, steps
  for (size_t i = 1; i < p.inputs.size(); ++i) {
    if (!p.inputs[i].present) continue;
    if (!p.inputs[i].value) return no_copy("a slice whose bounds are known only at run time");
    bounds[i] = to_int64s(*p.inputs[i].value);
  }
  const auto given = [&](size_t i) {
    return i < p.inputs.size() && p.inputs[i].present ? &bounds[i] : nullptr;
  };
  TRY(auto dims, slice_dims(input_dims(p, 0), bounds[1], bounds[2], given(3), given(4)));
  std::vector<Axis> from = axes_of(input_dims(p, 0), layout);
  int64_t offset = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    offset += dims[d].start * from[d].stride;
    // A single element needs no step, and a huge one would overflow.
    from[d] = {dims[d].size, dims[d].size > 1 ? from[d].stride * dims[d].step : 0};
  }
  StridedCopy copy = copy_between(from, axes_of(output_dims(p), layout));
  copy.in_offset = offset;
  return std::vector{std::move(copy)};
}

Copies expand_copies(const Problem& p, const Layout& layout) {
  if (layout.kind != LayoutKind::linear) return no_copy("expansions of linear tensors only");
  const Dims &in = input_dims(p, 0), &out = output_dims(p);
  const Dims strides = strides_of(in);
  const std::vector<Axis> to = axes_of(out, layout);
  std::vector<Axis> from = to;
  for (Axis& axis : from) axis.stride = 0;
  for (size_t d = 0; d < in.size(); ++d) {
    if (in[d] != 1) from[d + out.size() - in.size()].stride = strides[d];
  }
  return std::vector{copy_between(from, to)};
}

// Each dimension twice: over the repetitions, which begin at the same element, and over its own
// elements.
Copies tile_copies(const Problem& p, const Layout& layout) {
  if (layout.kind != LayoutKind::linear) return no_copy("repetitions of linear tensors only");
  const Dims &in = input_dims(p, 0), &out = output_dims(p);
  const std::vector<Axis> from = axes_of(in, layout), to = axes_of(out, layout);
  StridedCopy copy;
  for (size_t d = 0; d < in.size(); ++d) {
    copy.loops.push_back({out[d] / in[d], 0, in[d] * to[d].stride});
    copy.loops.push_back({in[d], from[d].stride, to[d].stride});
  }
  if (copy.loops.empty()) copy.loops.push_back({});
  return std::vector{std::move(copy)};
}

}  // namespace

std::vector<Axis> axes_of(const Dims& dims, const Layout& layout, int64_t block) {
  const bool linear = layout.kind == LayoutKind::linear,
             blocked = layout.kind == LayoutKind::blocked;
  std::vector<int64_t> strides(dims.size(), 1);
  const int64_t pitch = layout.pitch ? layout.pitch : padded_channels(dims, layout);
  int64_t stride = linear ? 1 : blocked ? layout.block : pitch;
  for (size_t d = dims.size(); d-- > 0;) {
    if (d == 1 && !linear) {
      if (blocked) stride *= dims[1] / layout.block;
      continue;
    }
    strides[d] = stride;
    stride *= dims[d];
  }
  int64_t pixels = 1;
  for (size_t d = 2; d < dims.size(); ++d) pixels *= dims[d];
  std::vector<Axis> axes;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (d != 1 || block == 0) {
      axes.push_back({dims[d], strides[d]});
      continue;
    }
    // The next block is past all pixels where the layout is blocked, else `block` channels away.
    axes.push_back({dims[d] / block, blocked ? layout.block * pixels : block * strides[d]});
    axes.push_back({block, strides[d]});
  }
  if (axes.empty()) axes.push_back({});
  return axes;
}

int64_t elements_of(const StridedCopy& copy) {
  int64_t elements = 1;
  for (const StridedCopy::Loop& loop : copy.loops) elements *= loop.extent;
  return elements;
}

Copies read_copies(const Problem& p, const Layout& layout) {
  if (!p.epilogue.empty()) return no_copy(std::string(op_name(p.op)) + " with an epilogue");
  if (const auto* op = std::get_if<Transpose>(&p.op)) return transpose_copies(p, *op, layout);
  if (const auto* op = std::get_if<Concat>(&p.op))
    return part_copies(output_dims(p), p.inputs, op->axis, layout, Direction::join);
  if (const auto* op = std::get_if<Split>(&p.op))
    return part_copies(input_dims(p, 0), p.outputs, op->axis, layout, Direction::cut);
  if (std::holds_alternative<Slice>(p.op)) return slice_copies(p, layout);
  if (std::holds_alternative<Expand>(p.op)) return expand_copies(p, layout);
  if (std::holds_alternative<Tile>(p.op)) return tile_copies(p, layout);
  return no_copy("no copy of elements");
}

StridedCopy reformat_copy(const Dims& dims, const Layout& from, const Layout& to) {
  const int64_t block = from.kind == LayoutKind::blocked ? from.block
                        : to.kind == LayoutKind::blocked ? to.block
                                                         : 0;
  return copy_between(axes_of(dims, from, block), axes_of(dims, to, block));
}

StridedCopy simplified(const StridedCopy& copy) {
  StridedCopy out = copy;
  out.loops.clear();
  for (const StridedCopy::Loop& loop : copy.loops) {
    if (loop.extent == 1) continue;
    const bool joins = !out.loops.empty() &&
                       out.loops.back().in_stride == loop.extent * loop.in_stride &&
                       out.loops.back().out_stride == loop.extent * loop.out_stride;
    if (joins)
      out.loops.back() = {out.loops.back().extent * loop.extent, loop.in_stride, loop.out_stride};
    else
      out.loops.push_back(loop);
  }
  if (out.loops.empty()) out.loops.push_back({});
  return out;
}

CopyPieces widest_pieces(const StridedCopy& copy, int64_t element_bytes) {
  constexpr int64_t kWidest = 16;
  CopyPieces out{element_bytes, copy};
  const int64_t pack = kWidest / element_bytes;
  std::vector<StridedCopy::Loop>& loops = out.copy.loops;
  const StridedCopy::Loop last = loops.back();
  const auto fits = [&](int64_t n) { return n % pack == 0; };
  const bool aligned =
      fits(last.extent) && fits(copy.in_offset) && fits(copy.out_offset) &&
      std::all_of(loops.begin(), loops.end() - 1, [&](const StridedCopy::Loop& loop) {
        return fits(loop.in_stride) && fits(loop.out_stride);
      });
  if (last.in_stride != 1 || last.out_stride != 1 || !aligned) return out;
  out.bytes = kWidest;
  out.copy.in_offset /= pack;
  out.copy.out_offset /= pack;
  for (StridedCopy::Loop& loop : loops) {
    loop.in_stride /= pack;
    loop.out_stride /= pack;
  }
  loops.back() = {last.extent / pack, 1, 1};
  return out;
}

StridedCopy in_output_order(const StridedCopy& copy) {
  StridedCopy out = copy;
  std::ranges::stable_sort(out.loops, [](const StridedCopy::Loop& a, const StridedCopy::Loop& b) {
    return std::abs(a.out_stride) > std::abs(b.out_stride);
  });
  return out;
}

}  // namespace enginery
