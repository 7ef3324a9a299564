// Families view and copy: operators that move elements or only rename their dimensions (copy.cuh).
#include "engine/tactics/cuda/kernel/strided.h"

namespace enginery {
namespace {

bool is_view(const Problem& problem) {
  const Op& op = problem.op;
  return std::holds_alternative<Reshape>(op) || std::holds_alternative<Flatten>(op) ||
         std::holds_alternative<Squeeze>(op) || std::holds_alternative<Unsqueeze>(op) ||
         (std::holds_alternative<Identity>(op) && !is_reformat(problem));
}

// The output's dims in the order of a transposition; equal but for sizes of 1 means that nothing
// moves.
bool moves_nothing(const Problem& problem) {
  const auto* transpose = std::get_if<Transpose>(&problem.op);
  if (!transpose) return false;
  const Dims& dims = problem.inputs[0].type.dims;
  int64_t last = -1;
  for (int64_t axis : transpose->permutation) {
    if (dims[static_cast<size_t>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return !transpose->permutation.empty();
}

StridedMove whole(const Dims& dims, const Dims& in_stride, const Dims& out_stride) {
  StridedMove move;
  move.dims = dims, move.in_stride = in_stride, move.out_stride = out_stride;
  return move;
}

using Moves = Result<std::vector<StridedMove>>;

Moves transpose_moves(const Problem& problem, const Transpose& op, const Layout& layout) {
  if (layout.kind != LayoutKind::linear) return no_kernel("transposes of linear tensors only");
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
    if (present && !problem.inputs[i].value) return no_kernel("slice bounds that are computed");
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
  if (layout.kind != LayoutKind::linear) return no_kernel("expansions of linear tensors only");
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
  return no_kernel("no move of elements");
}

// Channels-last storage without padding on either side.
bool unpadded(const std::vector<TensorDesc>& descs) {
  for (const TensorDesc& desc : descs) {
    if (desc.present && !desc.value && (desc.type.dims.size() < 3 || desc.type.dims[1] % 8))
      return false;
  }
  return true;
}

KernelLaunch move_launch(const MoveUnit& unit) {
  gpu::CopyArgs args{};
  const StridedMove& m = unit.move;
  args.in_base = m.in_base, args.out_base = m.out_base;
  args.total = static_cast<int>(volume(m.dims));
  for (size_t d = 0; d < m.dims.size(); ++d) {
    args.in_stride[d] = m.in_stride[d], args.out_stride[d] = m.out_stride[d];
    args.by[d] = make_divisor(m.dims[d]);
  }
  KernelLaunch launch;
  launch.entry = "move_" + std::to_string(unit.bytes) + "_" + std::to_string(m.dims.size());
  launch.grid = grid_for(args.total, 256);
  launch.threads = 256;
  launch.arguments = argument_bytes(args);
  launch.slots = {{offsetof(gpu::CopyArgs, x), PointerSource::input, m.input},
                  {offsetof(gpu::CopyArgs, y), PointerSource::output, m.output}};
  return launch;
}

}  // namespace

Status offer_view(const Problem& problem, const KernelContext& context, std::vector<Tactic>& out) {
  CHECK_OK(require_static(problem));
  if ((!is_view(problem) && !moves_nothing(problem)) || problem.outputs.size() != 1)
    return no_kernel("no change of dims alone");
  if (!problem.epilogue.empty()) return no_kernel("a fused chain");
  if (problem.inputs[0].constant) return no_kernel("a view of a constant");
  for (DataType type : kept_types(problem.inputs[0].type.type, context)) {
    Tactic tactic = make_kernel_tactic(problem, "view/same");
    tactic.inputs[0] = tactic.outputs[0] = {type, {}};
    tactic.compute = precision_of_storage(type);
    tactic.view_of = 0;
    out.push_back(tactic);
    bool any_layout =
        std::holds_alternative<Identity>(problem.op) && problem.inputs[0].type.dims.size() > 2;
    if (!any_layout || !is_floating(type)) continue;
    tactic.inputs[0] = tactic.outputs[0] =
        channels_last_format(type, problem.inputs[0].type.dims[1]);
    out.push_back(std::move(tactic));
  }
  return {};
}

Result<KernelPlan> plan_view(const Problem&, const Tactic& tactic, const KernelContext&) {
  if (tactic.id != "view/same") return no_variant(tactic);
  return KernelPlan{};
}

Status offer_copy(const Problem& problem, const KernelContext& context, std::vector<Tactic>& out) {
  CHECK_OK(require_static(problem));
  if (!problem.epilogue.empty()) return no_kernel("a fused chain");
  CHECK_OK([&]() -> Status {
    TRY(auto moves, moves_of(problem, {}));
    for (const StridedMove& move : moves) {
      if (simplified(move).dims.size() > 6) return no_kernel("more than 6 dimensions");
    }
    return {};
  }());
  for (const TensorDesc& desc : problem.inputs) {
    if (desc.present && desc.constant && !desc.value) return no_kernel("a constant operand");
  }
  for (DataType type : kept_types(problem.inputs[0].type.type, context)) {
    for (LayoutKind kind : {LayoutKind::linear, LayoutKind::channels_last}) {
      Format format{type, {kind, 0}};
      bool serves = kind == LayoutKind::linear ||
                    (is_floating(type) && unpadded(problem.inputs) && unpadded(problem.outputs));
      auto moves = serves ? moves_of(problem, format.layout) : Moves(no_kernel("padded channels"));
      if (!moves.ok()) continue;
      Tactic tactic = make_kernel_tactic(problem, "copy/strided");
      double bytes = 0;
      for (const StridedMove& move : *moves) {
        tactic.inputs[static_cast<size_t>(move.input)] = format;
        bytes += 2.0 * static_cast<double>(volume(move.dims) * element_bytes(type));
      }
      for (Format& f : tactic.outputs) f = format;
      tactic.compute = precision_of_storage(type);
      tactic.estimated_us = context.memory_us(bytes, static_cast<int>(moves->size()));
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

Result<KernelPlan> plan_copy(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  if (tactic.id != "copy/strided") return no_variant(tactic);
  const Format& format = tactic.outputs[0];
  TRY(auto moves, moves_of(problem, format.layout));
  KernelPlan plan;
  std::string entries;
  for (const StridedMove& move : moves) {
    MoveUnit unit = widest_unit(simplified(move), element_bytes(format.type));
    if (unit.move.dims.size() > 6) return no_kernel("more than 6 dimensions");
    KernelLaunch launch = move_launch(unit);
    std::string entry = "ENTRY(" + launch.entry + ", " + unit_text(unit.bytes) + ", " +
                        std::to_string(unit.move.dims.size()) + ")\n";
    if (entries.find(entry) == std::string::npos) entries += entry;
    plan.launches.push_back(std::move(launch));
  }
  plan.program.files = {"copy.cuh"};
  plan.program.functions =
      "#define ENTRY(name, type, dims) extern \"C\" __global__ void __launch_bounds__(256) "
      "name(const CopyArgs a) { move<type, dims>(a); }\n"
      "template <typename T, int DIMS> __device__ __forceinline__ void move(const CopyArgs& a);\n" +
      entries;
  return plan;
}

}  // namespace enginery
