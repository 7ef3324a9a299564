// Family copy: operators that move elements: transpose, concatenation, split, slice, expansion
// (copy.cuh).
#include <algorithm>

#include "engine/tactics/cuda/kernel/copy/args.h"
#include "engine/tactics/cuda/kernel/copy/strided_move.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"

namespace enginery {
namespace {

struct CopyVariant {
  int threads;  // of a block, a piece each
};

constexpr CopyVariant kCopyVariants[] = {{256}};

std::string id_of(const CopyVariant& v) {
  return id_by_threads("copy/strided", v.threads, 256);
}

constexpr size_t kMaxCopyDims = 6;  // of CopyArgs

StridedMove whole(const Dims& dims, const Dims& in_stride, const Dims& out_stride) {
  StridedMove move;
  move.dims = dims;
  move.in_stride = in_stride;
  move.out_stride = out_stride;
  return move;
}

using Moves = Result<std::vector<StridedMove>>;

Moves transpose_moves(const Problem& problem, const Transpose& op, const Layout& layout) {
  if (layout.kind != LayoutKind::linear) return refusal("transposes of linear tensors only");
  const Dims& in = problem.inputs[0].type.dims;
  Dims from = strides_of(in), strides;
  for (size_t d = 0; d < in.size(); ++d) {
    size_t axis =
        op.permutation.empty() ? in.size() - 1 - d : static_cast<size_t>(op.permutation[d]);
    strides.push_back(from[axis]);
  }
  const Dims& out = problem.outputs[0].type.dims;
  return std::vector{whole(out, strides, strides_of(out))};
}

// Concat and Split: boxes of one side, one a tensor of the other, side by side along `axis`.
std::vector<StridedMove> boxes(const std::vector<TensorDesc>& parts, size_t count,
                               const Dims& joined, int64_t axis, const Layout& layout,
                               bool parts_are_inputs) {
  std::vector<StridedMove> moves;
  Dims joined_strides = layout_strides(joined, layout);
  int64_t base = 0;
  for (size_t i = 0; i < count; ++i) {
    const Dims& dims = parts[i].type.dims;
    Dims strides = layout_strides(dims, layout);
    StridedMove move = parts_are_inputs ? whole(dims, strides, joined_strides)
                                        : whole(dims, joined_strides, strides);
    (parts_are_inputs ? move.out_base : move.in_base) =
        base * joined_strides[static_cast<size_t>(axis)];
    (parts_are_inputs ? move.input : move.output) = static_cast<int>(i);
    base += dims[static_cast<size_t>(axis)];
    if (volume(dims)) moves.push_back(std::move(move));
  }
  return moves;
}

Moves slice_moves(const Problem& problem, const Layout& layout) {
  const Dims &in = problem.inputs[0].type.dims, &out = problem.outputs[0].type.dims;
  std::vector<std::vector<int64_t>> lists;
  for (size_t i = 1; i < 5; ++i) {
    bool present = i < problem.inputs.size() && problem.inputs[i].present;
    if (present && !problem.inputs[i].value) return refusal("slice bounds that are computed");
    lists.push_back(present ? to_int64s(*problem.inputs[i].value) : std::vector<int64_t>());
  }
  const auto &starts = lists[0], &axes = lists[2], &steps = lists[3];
  Dims strides = layout_strides(in, layout);
  StridedMove move = whole(out, strides, layout_strides(out, layout));
  for (size_t i = 0; i < starts.size(); ++i) {
    auto axis =
        static_cast<size_t>(wrapped(axes.empty() ? static_cast<int64_t>(i) : axes[i], in.size()));
    int64_t size = in[axis], step = steps.empty() ? 1 : steps[i];
    int64_t start = starts[i] < 0 ? starts[i] + size : starts[i];
    start =
        step > 0 ? std::clamp<int64_t>(start, 0, size) : std::clamp<int64_t>(start, 0, size - 1);
    move.in_base += start * strides[axis];
    move.in_stride[axis] = step * strides[axis];
  }
  return std::vector{move};
}

Moves expand_moves(const Problem& problem, const Layout& layout) {
  if (layout.kind != LayoutKind::linear) return refusal("expansions of linear tensors only");
  const Dims &in = problem.inputs[0].type.dims, &out = problem.outputs[0].type.dims;
  Dims from = strides_of(in), strides(out.size(), 0);
  for (size_t d = 0; d < in.size(); ++d) {
    if (in[d] != 1) strides[d + out.size() - in.size()] = from[d];
  }
  return std::vector{whole(out, strides, strides_of(out))};
}

Moves moves_of(const Problem& problem, const Layout& layout) {
  if (const auto* op = std::get_if<Transpose>(&problem.op))
    return transpose_moves(problem, *op, layout);
  if (const auto* op = std::get_if<Concat>(&problem.op)) {
    const Dims& joined = problem.outputs[0].type.dims;
    return boxes(problem.inputs, problem.inputs.size(), joined, wrapped(op->axis, joined.size()),
                 layout, true);
  }
  if (const auto* op = std::get_if<Split>(&problem.op)) {
    const Dims& joined = problem.inputs[0].type.dims;
    return boxes(problem.outputs, problem.outputs.size(), joined, wrapped(op->axis, joined.size()),
                 layout, false);
  }
  if (std::holds_alternative<Slice>(problem.op)) return slice_moves(problem, layout);
  if (std::holds_alternative<Expand>(problem.op)) return expand_moves(problem, layout);
  return refusal("no move of elements");
}

// Channels-last storage without padding on either side.
bool unpadded(const std::vector<TensorDesc>& descs) {
  for (const TensorDesc& desc : descs) {
    if (desc.present && !desc.value && (desc.type.dims.size() < 3 || desc.type.dims[1] % 8))
      return false;
  }
  return true;
}

Status require_copy(const Problem& problem) {
  CHECK_OK(require_static(problem));
  if (!problem.epilogue.empty()) return refusal("a fused chain");
  TRY(const auto moves, moves_of(problem, {}));
  for (const StridedMove& move : moves) {
    if (simplified(move).dims.size() > kMaxCopyDims) return refusal("more than 6 dimensions");
  }
  for (const TensorDesc& desc : problem.inputs) {
    if (desc.present && desc.constant && !desc.value) return refusal("a constant operand");
  }
  return {};
}

Tactic copy_tactic(const Problem& problem, const Format& format,
                   const std::vector<StridedMove>& moves, const CopyVariant& variant,
                   const KernelContext& context) {
  Tactic tactic = make_kernel_tactic(problem, id_of(variant));
  double bytes = 0;
  for (const StridedMove& move : moves) {
    tactic.inputs[static_cast<size_t>(move.input)] = format;
    bytes += 2.0 * static_cast<double>(volume(move.dims) * element_bytes(format.type));
  }
  for (Format& f : tactic.outputs) f = format;
  tactic.compute = precision_of_storage(format.type);
  tactic.estimated_us = context.memory_us(bytes, to_int(std::ssize(moves)));
  return tactic;
}

Status offer_copy(const Problem& problem, const KernelContext& context, std::vector<Tactic>& out) {
  CHECK_OK(require_copy(problem));
  const bool any_unpadded = unpadded(problem.inputs) && unpadded(problem.outputs);
  for (DataType type : kept_types(problem.inputs[0].type.type, context)) {
    for (LayoutKind kind : {LayoutKind::linear, LayoutKind::channels_last}) {
      const Format format{type, {kind, 0}};
      if (kind == LayoutKind::channels_last && !(is_floating(type) && any_unpadded)) continue;
      const auto moves = moves_of(problem, format.layout);
      if (!moves.ok()) continue;
      for (const CopyVariant& variant : kCopyVariants)
        out.push_back(copy_tactic(problem, format, *moves, variant, context));
    }
  }
  return {};
}

// One launch of the entry for the piece's size and the number of dimensions.
KernelLaunch move_launch(const MoveUnit& unit, const CopyVariant& variant) {
  const StridedMove& m = unit.move;
  gpu::CopyArgs args{};
  args.in_base = m.in_base;
  args.out_base = m.out_base;
  args.total = to_int(volume(m.dims));
  for (size_t d = 0; d < m.dims.size(); ++d) {
    args.in_stride[d] = m.in_stride[d];
    args.out_stride[d] = m.out_stride[d];
    args.by[d] = make_divisor(m.dims[d]);
  }
  KernelLaunch launch = launch_of(args, args.total, static_cast<unsigned>(variant.threads));
  launch.entry = "move_" + std::to_string(unit.bytes) + "_" + std::to_string(m.dims.size());
  launch.slots = {{offsetof(gpu::CopyArgs, x), PointerSource::input, m.input},
                  {offsetof(gpu::CopyArgs, y), PointerSource::output, m.output}};
  return launch;
}

Result<KernelPlan> plan_copy(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  const CopyVariant* variant = find_variant(kCopyVariants, tactic);
  if (!variant) return no_variant(tactic);
  const Format& format = tactic.outputs[0];
  TRY(const auto moves, moves_of(problem, format.layout));
  KernelPlan plan;
  std::string entries;  // each once
  for (const StridedMove& move : moves) {
    const MoveUnit unit = widest_unit(simplified(move), element_bytes(format.type));
    if (unit.move.dims.size() > kMaxCopyDims) return refusal("more than 6 dimensions");
    KernelLaunch launch = move_launch(unit, *variant);
    const std::string entry = "ENTRY(" + launch.entry + ", " + unit_text(unit.bytes) + ", " +
                              std::to_string(unit.move.dims.size()) + ") ";
    if (entries.find(entry) == std::string::npos) entries += entry;
    plan.launches.push_back(std::move(launch));
  }
  plan.program.define("THREADS", variant->threads);
  plan.program.define("ENTRIES", entries);
  plan.program.files = {"copy/args.h", "copy/copy.cuh"};
  return plan;
}

}  // namespace

const KernelFamily kCopyFamily{"copy", offer_copy, plan_copy};

}  // namespace enginery
