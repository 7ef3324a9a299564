// Family pointwise: element-wise operators with the chain that follows them
// (engine/kernels/cuda/src/pointwise.cuh).
#include "engine/tactics/cuda/kernel/epilogue_lowering.h"

namespace enginery {
namespace {

// What the anchor computes: an expression over u0, u1, ... and where those come from.
struct PointwiseCode {
  std::string expression;
  std::vector<EpilogueSource> sources;
};

std::string binary_text(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::add:
      return "u0 + u1";
    case BinaryKind::sub:
      return "u0 - u1";
    case BinaryKind::mul:
      return "u0 * u1";
    case BinaryKind::div:
      return "u0 / u1";
    case BinaryKind::pow:
      return "powf(u0, u1)";
    case BinaryKind::min:
      return "fminf(u0, u1)";
    case BinaryKind::max:
      return "fmaxf(u0, u1)";
    default:
      return {};
  }
}

std::string anchor_text(const Op& op) {
  if (const auto* activation = std::get_if<Activation>(&op))
    return activation_text(*activation, "u0");
  if (const auto* unary = std::get_if<Unary>(&op)) return unary_text(unary->kind, "u0");
  if (const auto* binary = std::get_if<Binary>(&op)) return binary_text(binary->kind);
  if (std::holds_alternative<PRelu>(op)) return "u0 < 0 ? u1 * u0 : u0";
  if (const auto* norm = std::get_if<BatchNorm>(&op)) {
    char epsilon[40];
    std::snprintf(epsilon, sizeof epsilon, "(%af)", static_cast<double>(norm->epsilon));
    return "u1 * (u0 - u3) / sqrtf(u4 + " + std::string(epsilon) + ") + u2";
  }
  return {};
}

// BatchNorm's vectors run along the channels though their rank is 1.
TensorDesc along_channels(TensorDesc desc, size_t rank) {
  Dims dims(rank, 1);
  if (rank > 1) dims[1] = volume(desc.type.dims);
  desc.type.dims = dims;
  return desc;
}

Result<PointwiseCode> lower_anchor(const Problem& problem, const EpilogueFrame& frame) {
  PointwiseCode out{anchor_text(problem.op), {}};
  if (out.expression.empty()) return no_kernel("no element-wise function of floats");
  bool norm = std::holds_alternative<BatchNorm>(problem.op);
  for (int i = 0; i < problem.anchor_inputs; ++i) {
    TensorDesc desc = problem.inputs[static_cast<size_t>(i)];
    if (!desc.present) return no_kernel("an absent operand");
    if (norm && i > 0) desc = along_channels(desc, frame.dims.size());
    auto source = classify_operand(i, desc, frame);
    if (!source)
      return no_kernel("an operand " + to_string(desc.type) + " beside " + to_string(frame.dims));
    out.sources.push_back(std::move(*source));
  }
  return out;
}

bool needs_channels(const std::vector<EpilogueSource>& sources) {
  for (const EpilogueSource& s : sources) {
    if (s.access == OperandAccess::channel || s.access == OperandAccess::image_channel) return true;
  }
  return false;
}

struct PointwiseCase {
  EpilogueFrame frame;
  PointwiseCode anchor;
  LoweredEpilogue epilogue;
};

Result<PointwiseCase> lower_pointwise(const Problem& problem, const Format& format) {
  const Dims& dims = problem.outputs[0].type.dims;
  PointwiseCase out;
  bool last = format.layout.kind == LayoutKind::channels_last;
  if (last && (dims.size() < 3 || dims[1] % 8))
    return no_kernel("channels that are no multiple of 8");
  out.frame = frame_in_order(dims, format.type);
  if (last) out.frame.channel_axis = 1, out.frame.padded = dims[1], out.frame.format = format;
  TRY(out.anchor, lower_anchor(problem, out.frame));
  TRY(out.epilogue, lower_epilogue(problem, out.frame));
  return out;
}

Status require_floats(const Problem& problem) {
  CHECK_OK(require_static(problem));
  if (problem.outputs.size() != 1 || !is_floating(problem.outputs[0].type.type))
    return no_kernel("no floating-point output");
  if (anchor_text(problem.op).empty()) return no_kernel("no element-wise function");
  if (volume(problem.outputs[0].type.dims) == 0) return no_kernel("no elements");
  return {};
}

}  // namespace

Status offer_pointwise(const Problem& problem, const KernelContext& context,
                       std::vector<Tactic>& out) {
  CHECK_OK(require_floats(problem));
  Status reason = no_kernel("no layout serves");
  for (DataType type : context.storage_types()) {
    for (LayoutKind layout : {LayoutKind::channels_last, LayoutKind::linear}) {
      Format format{type, {layout, 0}};
      auto lowered = lower_pointwise(problem, format);
      if (!lowered.ok()) {
        reason = lowered.error();
        continue;
      }
      Tactic tactic = make_kernel_tactic(problem, "pointwise/flat");
      double tensors = 1;
      for (const auto* sources : {&lowered->anchor.sources, &lowered->epilogue.sources}) {
        for (const EpilogueSource& s : *sources) {
          if (!s.constant)
            tactic.inputs[static_cast<size_t>(s.input)] = wanted_format(s, lowered->frame),
            tensors += s.access == OperandAccess::same;
        }
      }
      tactic.outputs[0] = format;
      tactic.compute = precision_of_storage(type);
      tactic.estimated_us = context.memory_us(
          tensors * static_cast<double>(volume(lowered->frame.dims) * element_bytes(type)));
      out.push_back(std::move(tactic));
      reason = {};
    }
  }
  return reason;
}

Result<KernelPlan> plan_pointwise(const Problem& problem, const Tactic& tactic,
                                  const KernelContext&) {
  CHECK_OK(require_floats(problem));
  if (tactic.id != "pointwise/flat") return no_variant(tactic);
  TRY(PointwiseCase lowered, lower_pointwise(problem, tactic.outputs[0]));
  DataType type = tactic.outputs[0].type;
  int64_t total = volume(lowered.frame.dims), ldy = lowered.frame.padded;
  bool channels =
      needs_channels(lowered.anchor.sources) || needs_channels(lowered.epilogue.sources);
  int64_t width = total % 8 == 0 && (!channels || ldy % 8 == 0) ? 8 : 1;
  if (!channels) ldy = total;
  KernelPlan plan;
  define_types(plan.program, type, type);
  plan.program.define("WIDTH", width);
  std::vector<ElementOperand> operands;
  for (const EpilogueSource& s : lowered.anchor.sources)
    operands.push_back({s.access, type, s.walk});
  plan.program.functions =
      elements_text(operands, lowered.anchor.expression) + epilogue_text(lowered.epilogue.code);
  plan.program.files = {"pointwise.cuh"};
  gpu::PointwiseArgs args{};
  const Dims& dims = lowered.frame.dims;
  args.total = static_cast<int>(total), args.ldy = static_cast<int>(ldy);
  args.by_ldy = make_divisor(ldy);
  args.by_pixels = make_divisor(dims.size() > 2 ? total / (dims[0] * dims[1]) : 1);
  KernelLaunch launch;
  launch.grid = grid_for(total / width, 256);
  launch.threads = 256;
  launch.arguments = argument_bytes(args);
  launch.slots = {{offsetof(gpu::PointwiseArgs, y), PointerSource::output, 0}};
  attach_sources(lowered.anchor.sources, lowered.frame, offsetof(gpu::PointwiseArgs, operands),
                 plan, launch);
  attach_epilogue(lowered.epilogue, offsetof(gpu::PointwiseArgs, epilogue), plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace enginery
