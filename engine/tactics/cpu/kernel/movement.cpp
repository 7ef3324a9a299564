// Views and strided copies: reformat, transpose, concat, split, slice.
#include <algorithm>
#include <numeric>

#include "engine/tactics/cpu/kernel/candidate.h"

namespace enginery::cpu_kernel {
namespace {

using cpu_kernels::CopyArguments;

// How to walk a tensor: one entry a dimension, dimension 1 as block number and place in the block
// where `block` is set.
struct Axis {
  int64_t extent, stride;
};

std::vector<Axis> axes_of(const Dims& dims, const Layout& layout, int64_t block) {
  size_t rank = dims.size();
  std::vector<int64_t> strides(rank, 1);
  bool linear = layout.kind == LayoutKind::linear, blocked = layout.kind == LayoutKind::blocked;
  int64_t stride = linear ? 1 : blocked ? layout.block : dims[1];
  for (size_t d = rank; d-- > 0;) {
    if (d == 1 && !linear) {
      strides[d] = 1;
      if (blocked) stride *= dims[1] / layout.block;
      continue;
    }
    strides[d] = stride;
    stride *= dims[d];
  }
  std::vector<Axis> axes;
  for (size_t d = 0; d < rank; ++d) {
    if (d != 1 || block == 0) {
      axes.push_back({dims[d], strides[d]});
      continue;
    }
    // A whole block further on: past all pixels where the layout is blocked, else `block` channels
    // further.
    int64_t outer =
        blocked ? layout.block * volume(dims) / (dims[0] * dims[1]) : block * strides[d];
    axes.push_back({dims[d] / block, outer});
    axes.push_back({block, strides[d]});
  }
  if (axes.empty()) axes.push_back({1, 1});
  return axes;
}

int64_t block_of(const Layout& a, const Layout& b) {
  return a.kind == LayoutKind::blocked ? a.block : b.kind == LayoutKind::blocked ? b.block : 0;
}

// A copy of a box: `from` and `to` give strides, extents come from `box`. Offsets in elements.
struct BoxCopy {
  CopyArguments arguments{};
  int64_t in_offset = 0, out_offset = 0;
};

BoxCopy make_copy(const std::vector<Axis>& from, const std::vector<Axis>& to, DataType type) {
  BoxCopy copy;
  copy.arguments.element_bytes = static_cast<int>(element_bytes(type));
  copy.arguments.loops = static_cast<int>(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    copy.arguments.loop[i] = {from[i].extent, from[i].stride, to[i].stride};
  simplify_copy(copy.arguments);
  return copy;
}

void run_copy(const cpu_kernels::Kernels& kernels, const BoxCopy& copy, const void* in, void* out) {
  CopyArguments arguments = copy.arguments;
  arguments.in = static_cast<const char*>(in) + copy.in_offset * arguments.element_bytes;
  arguments.out = static_cast<char*>(out) + copy.out_offset * arguments.element_bytes;
  kernels.copy(arguments);
}

Candidate copy_candidate(const Context& context, const Problem& p, Tactic tactic,
                         const BoxCopy& copy) {
  tactic.estimated_us = movement_us(context, p);
  return {std::move(tactic), [kernels = &context.kernels, copy](Weights) -> Run {
            return [=](const Arguments& a) { run_copy(*kernels, copy, a.inputs[0], a.outputs[0]); };
          }};
}

// Which dimensions of more than one element follow each other in memory, numbered as the output's.
std::vector<size_t> memory_order(const Dims& dims, const Layout& layout,
                                 const std::vector<size_t>& number) {
  std::vector<size_t> order;
  auto append = [&](size_t d) {
    if (dims[d] != 1) order.push_back(number[d]);
  };
  bool last = layout.kind == LayoutKind::channels_last;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (!last || d != 1) append(d);
  }
  if (last) append(1);
  return order;
}

bool is_image(const Dims& dims) {
  return dims.size() >= 3 && dims.size() <= 5;
}

std::vector<Layout> plain_layouts(const Dims& dims) {
  std::vector<Layout> out{{}};
  if (is_image(dims)) out.push_back({LayoutKind::channels_last, 0});
  return out;
}

std::vector<Candidate> transpose_views(const Problem& p, const Transpose& op) {
  const Dims& in = input_dims(p, 0);
  std::vector<size_t> own(in.size()), moved(in.size());
  std::iota(own.begin(), own.end(), 0);
  for (size_t i = 0; i < in.size(); ++i) moved[static_cast<size_t>(op.permutation[i])] = i;
  std::vector<Candidate> out;
  for (const Layout& from : plain_layouts(in)) {
    for (const Layout& to : plain_layouts(output_dims(p))) {
      if (memory_order(in, from, moved) != memory_order(output_dims(p), to, own)) continue;
      Tactic tactic = base_tactic(p, "view");
      tactic.inputs[0].layout = from, tactic.outputs[0].layout = to;
      tactic.view_of = 0;
      out.push_back({std::move(tactic), {}});
    }
  }
  return out;
}

bool keeps_order(const Op& op) {
  return std::holds_alternative<Reshape>(op) || std::holds_alternative<Flatten>(op) ||
         std::holds_alternative<Squeeze>(op) || std::holds_alternative<Unsqueeze>(op) ||
         std::holds_alternative<Identity>(op);
}

// Layouts that a whole concat or split can keep: those in which the axis is not cut through a
// block.
std::vector<Layout> joint_layouts(const Context& context, const Dims& whole, size_t axis,
                                  const std::vector<Dims>& parts) {
  std::vector<Layout> out;
  for (const Layout& layout : dense_layouts(context, whole)) {
    bool fits = std::all_of(parts.begin(), parts.end(), [&](const Dims& d) {
      return layout.kind != LayoutKind::blocked || axis != 1 || d[1] % layout.block == 0;
    });
    if (fits) out.push_back(layout);
  }
  return out;
}

// Where the part that begins at `at` along `axis` starts in the whole.
int64_t part_offset(const std::vector<Axis>& whole, size_t axis, int64_t at, int64_t block) {
  if (block == 0) return at * whole[axis].stride;
  if (axis == 1) return at / block * whole[1].stride;
  return at * whole[axis == 0 ? 0 : axis + 1].stride;
}

enum class Direction { join, cut };

// Copies between a whole and its parts along an axis.
std::vector<BoxCopy> part_copies(const Dims& whole, const std::vector<Dims>& parts, size_t axis,
                                 const Layout& layout, DataType type, Direction direction) {
  int64_t block = block_of(layout, layout), at = 0;
  std::vector<Axis> whole_axes = axes_of(whole, layout, block);
  std::vector<BoxCopy> copies;
  for (const Dims& part : parts) {
    std::vector<Axis> part_axes = axes_of(part, layout, block), box = whole_axes;
    for (size_t i = 0; i < box.size(); ++i) box[i].extent = part_axes[i].extent;
    bool join = direction == Direction::join;
    BoxCopy copy = join ? make_copy(part_axes, box, type) : make_copy(box, part_axes, type);
    (join ? copy.out_offset : copy.in_offset) = part_offset(whole_axes, axis, at, block);
    copies.push_back(copy);
    at += part[axis];
  }
  return copies;
}

}  // namespace

std::vector<Candidate> view_candidates(const Problem& p) {
  if (!p.epilogue.empty() || p.inputs.empty() || p.inputs[0].constant) return {};
  if (auto* transpose = std::get_if<Transpose>(&p.op)) return transpose_views(p, *transpose);
  if (!keeps_order(p.op)) return {};
  std::vector<Candidate> out;
  auto append = [&](const Layout& layout) {
    Tactic tactic = base_tactic(p, "view");
    tactic.inputs[0].layout = tactic.outputs[0].layout = layout;
    tactic.view_of = 0;
    out.push_back({std::move(tactic), {}});
  };
  append({});
  // The same dims: any layout stays what it is.
  if (input_dims(p, 0) == output_dims(p) && is_image(output_dims(p)))
    append({LayoutKind::channels_last, 0});
  return out;
}

Candidates reformat_candidates(const Context& context, const Problem& p) {
  const Dims& dims = input_dims(p, 0);
  const Format &from = *p.inputs[0].pinned, &to = *p.outputs[0].pinned;
  Tactic tactic = base_tactic(p, "copy");
  tactic.inputs = {from}, tactic.outputs = {to};
  if (same_placement(dims, from, to)) {
    tactic.id = "view", tactic.view_of = 0;
    return std::vector<Candidate>{{std::move(tactic), {}}};
  }
  if (from.type != to.type) return unsupported("a change of element type");
  int64_t block = block_of(from.layout, to.layout);
  bool two_blocks = block_of(to.layout, from.layout) != block;
  bool padded = physical_bytes(dims, from) != physical_bytes(dims, {from.type, {}}) ||
                physical_bytes(dims, to) != physical_bytes(dims, {to.type, {}});
  if (padded || two_blocks) return unsupported("padded layouts");
  BoxCopy copy =
      make_copy(axes_of(dims, from.layout, block), axes_of(dims, to.layout, block), from.type);
  return std::vector<Candidate>{copy_candidate(context, p, std::move(tactic), copy)};
}

Candidates transpose_candidates(const Context& context, const Problem& p) {
  if (!p.epilogue.empty()) return unsupported("a transpose with an epilogue");
  const auto& op = std::get<Transpose>(p.op);
  std::vector<Axis> in = axes_of(input_dims(p, 0), {}, 0), out = axes_of(output_dims(p), {}, 0),
                    permuted;
  if (in.size() > static_cast<size_t>(cpu_kernels::kMaxLoops))
    return unsupported("a transpose of high rank");
  for (size_t i = 0; i < input_dims(p, 0).size(); ++i)
    permuted.push_back(in[static_cast<size_t>(op.permutation[i])]);
  if (permuted.empty()) permuted = in;
  std::vector<Candidate> candidates = view_candidates(p);
  candidates.push_back(copy_candidate(context, p, base_tactic(p, "copy"),
                                      make_copy(permuted, out, p.inputs[0].type.type)));
  return candidates;
}

Candidates concat_candidates(const Context& context, const Problem& p) {
  if (!p.epilogue.empty()) return unsupported("a concat with an epilogue");
  int64_t rank = static_cast<int64_t>(output_dims(p).size()), axis = std::get<Concat>(p.op).axis;
  size_t along = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  std::vector<Dims> parts;
  for (const TensorDesc& desc : p.inputs) {
    if (desc.constant) return unsupported("a concat with a constant");
    parts.push_back(desc.type.dims);
  }
  std::vector<Candidate> out;
  for (const Layout& layout : joint_layouts(context, output_dims(p), along, parts)) {
    Tactic tactic = base_tactic(p, "concat");
    for (Format& f : tactic.inputs) f.layout = layout;
    tactic.outputs[0].layout = layout;
    tactic.estimated_us = movement_us(context, p);
    auto copies =
        part_copies(output_dims(p), parts, along, layout, p.outputs[0].type.type, Direction::join);
    out.push_back({std::move(tactic), [kernels = &context.kernels, copies](Weights) -> Run {
                     return [=](const Arguments& a) {
                       for (size_t i = 0; i < copies.size(); ++i)
                         run_copy(*kernels, copies[i], a.inputs[i], a.outputs[0]);
                     };
                   }});
  }
  return out;
}

Candidates split_candidates(const Context& context, const Problem& p) {
  int64_t rank = static_cast<int64_t>(input_dims(p, 0).size()), axis = std::get<Split>(p.op).axis;
  size_t along = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  std::vector<Dims> parts;
  for (const TensorDesc& desc : p.outputs) parts.push_back(desc.type.dims);
  std::vector<Candidate> out;
  for (const Layout& layout : joint_layouts(context, input_dims(p, 0), along, parts)) {
    Tactic tactic = base_tactic(p, "split");
    for (Format& f : tactic.outputs) f.layout = layout;
    tactic.inputs[0].layout = layout;
    tactic.estimated_us = movement_us(context, p);
    auto copies =
        part_copies(input_dims(p, 0), parts, along, layout, p.inputs[0].type.type, Direction::cut);
    out.push_back({std::move(tactic), [kernels = &context.kernels, copies](Weights) -> Run {
                     return [=](const Arguments& a) {
                       for (size_t i = 0; i < copies.size(); ++i)
                         run_copy(*kernels, copies[i], a.inputs[0], a.outputs[i]);
                     };
                   }});
  }
  return out;
}

Candidates slice_candidates(const Context& context, const Problem& p) {
  if (!p.epilogue.empty()) return unsupported("a slice with an epilogue");
  const Dims& in = input_dims(p, 0);
  auto ints = [&](size_t i, int64_t otherwise, size_t count) {
    bool given = i < p.inputs.size() && p.inputs[i].present;
    return given ? to_int64s(*p.inputs[i].value) : std::vector<int64_t>(count, otherwise);
  };
  for (size_t i = 1; i < p.inputs.size(); ++i) {
    if (p.inputs[i].present && !p.inputs[i].value)
      return unsupported("a slice whose bounds are known only at run time");
  }
  if (in.size() > static_cast<size_t>(cpu_kernels::kMaxLoops))
    return unsupported("a slice of high rank");
  std::vector<int64_t> starts = ints(1, 0, 0), axes = ints(3, 0, starts.size()),
                       steps = ints(4, 1, starts.size());
  bool has_axes = p.inputs.size() > 3 && p.inputs[3].present;
  int64_t rank = static_cast<int64_t>(in.size());
  std::vector<Candidate> out;
  for (const Layout& layout : plain_layouts(in)) {
    std::vector<Axis> from = axes_of(in, layout, 0), to = axes_of(output_dims(p), layout, 0);
    int64_t offset = 0;
    for (size_t i = 0; i < from.size() && i < output_dims(p).size(); ++i)
      from[i].extent = to[i].extent;
    for (size_t i = 0; i < starts.size(); ++i) {
      int64_t axis = has_axes ? axes[i] : static_cast<int64_t>(i);
      size_t d = static_cast<size_t>(axis < 0 ? axis + rank : axis);
      int64_t start = starts[i] < 0 ? starts[i] + in[d] : starts[i];
      // ONNX clamps the start into the tensor; going backwards the last element is the furthest.
      start = std::clamp<int64_t>(start, 0, steps[i] < 0 ? in[d] - 1 : in[d]);
      offset += start * from[d].stride;
      from[d].stride *= steps[i];
    }
    Tactic tactic = base_tactic(p, "copy");
    tactic.inputs[0].layout = tactic.outputs[0].layout = layout;
    BoxCopy copy = make_copy(from, to, p.inputs[0].type.type);
    copy.in_offset = offset;
    out.push_back(copy_candidate(context, p, std::move(tactic), copy));
  }
  return out;
}

}  // namespace enginery::cpu_kernel
