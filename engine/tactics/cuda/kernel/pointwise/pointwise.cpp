// Family pointwise: element-wise operators with the chain that follows them, and regions of nothing
// else (pointwise.cuh).
#include <algorithm>
#include <cstdio>

#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/pointwise/args.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"
#include "engine/tactics/shapes/pointwise_region.h"

namespace enginery {
namespace {

struct PointwiseVariant {
  int threads;  // of a block
};

constexpr PointwiseVariant kPointwiseVariants[] = {{256}};
constexpr int kMaxOperands = 6;  // of the anchor, or of a region

std::string id_of(const PointwiseVariant& v) {
  return id_by_threads("pointwise/flat", v.threads, 256);
}

// What the anchor computes, or all operators of a region: statements that declare r0, r1, ... and
// an expression, both over u0, u1, ..., and where those come from.
struct PointwiseCode {
  std::string statements, expression;
  std::vector<EpilogueSource> sources;
};

std::string binary_text(BinaryKind kind, const std::string& a, const std::string& b) {
  switch (kind) {
    case BinaryKind::add:
      return a + " + " + b;
    case BinaryKind::sub:
      return a + " - " + b;
    case BinaryKind::mul:
      return a + " * " + b;
    case BinaryKind::div:
      return a + " / " + b;
    case BinaryKind::pow:
      return "powf(" + a + ", " + b + ")";
    case BinaryKind::min:
      return "smaller(" + a + ", " + b + ")";
    case BinaryKind::max:
      return "larger(" + a + ", " + b + ")";
    default:
      return {};
  }
}

// The operator as an expression over the names of its operands; empty where there is none.
std::string operator_text(const Op& op, const std::vector<std::string>& u) {
  if (const auto* activation = std::get_if<Activation>(&op))
    return activation_text(*activation, u[0]);
  if (const auto* unary = std::get_if<Unary>(&op)) return unary_text(unary->kind, u[0]);
  if (const auto* binary = std::get_if<Binary>(&op)) return binary_text(binary->kind, u[0], u[1]);
  if (std::holds_alternative<PRelu>(op))
    return u[0] + " < 0 ? " + u[1] + " * " + u[0] + " : " + u[0];
  if (std::holds_alternative<Where>(op)) return u[0] + " != 0 ? " + u[1] + " : " + u[2];
  if (std::holds_alternative<Cast>(op)) return u[0];
  if (const auto* norm = std::get_if<BatchNorm>(&op)) {
    char epsilon[40];
    std::snprintf(epsilon, sizeof epsilon, "(%af)", static_cast<double>(norm->epsilon));
    return u[1] + " * (" + u[0] + " - " + u[3] + ") / sqrtf(" + u[4] + " + " + epsilon + ") + " +
           u[2];
  }
  return {};
}

// Of a region the operators in order; the last one is the expression.
Status add_operators(const Problem& problem, PointwiseCode& code) {
  const std::vector<RegionPart> parts = operators_of(problem);
  const size_t inputs = problem.inputs.size();
  for (size_t k = 0; k < parts.size(); ++k) {
    std::vector<std::string> names;
    for (const int at : parts[k].operands) {
      const auto index = static_cast<size_t>(at);
      names.push_back(index < inputs ? "u" + std::to_string(index)
                                     : "r" + std::to_string(index - inputs));
    }
    const std::string text = operator_text(parts[k].problem.op, names);
    if (text.empty()) return refusal("no element-wise function of floats");
    if (k + 1 < parts.size())
      code.statements += "      const float r" + std::to_string(k) + " = " + text + ";\n";
    else
      code.expression = text;
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
  PointwiseCode out;
  CHECK_OK(add_operators(problem, out));
  bool norm = std::holds_alternative<BatchNorm>(problem.op);
  const int own =
      is_region(problem) ? static_cast<int>(problem.inputs.size()) : problem.anchor_inputs;
  if (own > kMaxOperands) return refusal("too many operands");
  for (int i = 0; i < own; ++i) {
    TensorDesc desc = problem.inputs[static_cast<size_t>(i)];
    if (!desc.present) return refusal("an absent operand");
    if (norm && i > 0) desc = along_channels(desc, frame.dims.size());
    auto source = classify_operand(i, desc, frame);
    if (!source)
      return refusal("an operand " + to_string(desc.type) + " beside " + to_string(frame.dims));
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
    return refusal("channels that are no multiple of 8");
  out.frame = frame_in_order(dims, format.type);
  if (last) {
    out.frame.channel_axis = 1;
    out.frame.padded = dims[1];
    out.frame.format = format;
  }
  TRY(out.anchor, lower_anchor(problem, out.frame));
  TRY(out.epilogue, lower_epilogue(problem, out.frame));
  return out;
}

Status require_floats(const Problem& problem) {
  CHECK_OK(require_static(problem));
  if (problem.outputs.size() != 1 || !is_floating(problem.outputs[0].type.type))
    return refusal("no floating-point output");
  if (problem.outputs[0].type.type == DataType::float64) return refusal("a result in float64");
  if (is_region(problem) ? !is_pointwise_region(problem) : is_one_of<Cast, Where>(problem))
    return refusal("other operators");
  if (volume(problem.outputs[0].type.dims) == 0) return refusal("no elements");
  return {};
}

// Whether the first input is read as the first operand and nowhere else, at the output's place.
bool reads_first_input_once(const PointwiseCase& c) {
  const auto is_first = [](const EpilogueSource& s) { return s.input == 0; };
  const EpilogueSource& first = c.anchor.sources.front();
  return is_first(first) && first.access == OperandAccess::same && !first.constant &&
         std::ranges::count_if(c.anchor.sources, is_first) == 1 &&
         std::ranges::none_of(c.epilogue.sources, is_first);
}

// A tactic of one format; the operands' formats follow from it.
Tactic pointwise_tactic(const Problem& problem, const PointwiseCase& lowered,
                        const PointwiseVariant& variant, const KernelContext& context) {
  const Format& format = lowered.frame.format;
  Tactic tactic = make_kernel_tactic(problem, id_of(variant));
  double tensors = 1;
  for (const auto* sources : {&lowered.anchor.sources, &lowered.epilogue.sources}) {
    for (const EpilogueSource& s : *sources) {
      const bool floats = is_floating(problem.inputs[static_cast<size_t>(s.input)].type.type);
      if (s.constant || !floats) continue;
      tactic.inputs[static_cast<size_t>(s.input)] = wanted_format(s, lowered.frame);
      tensors += s.access == OperandAccess::same;
    }
  }
  tactic.outputs[0] = format;
  tactic.writes_pitched = format.layout.kind == LayoutKind::channels_last;
  tactic.reads_pitched =
      tactic.writes_pitched && tactic.inputs[0] == format && reads_first_input_once(lowered);
  tactic.compute = precision_of_storage(format.type);
  tactic.estimated_us = context.memory_us(
      tensors * static_cast<double>(volume(lowered.frame.dims) * element_bytes(format.type)));
  return tactic;
}

Status offer_pointwise(const Problem& problem, const KernelContext& context,
                       std::vector<Tactic>& out) {
  CHECK_OK(require_floats(problem));
  Status reason = refusal("no layout serves");
  for (DataType type : context.storage_types()) {
    for (LayoutKind layout : {LayoutKind::channels_last, LayoutKind::linear}) {
      const auto lowered = lower_pointwise(problem, {type, {layout, 0}});
      if (!lowered.ok()) {
        reason = lowered.error();
        continue;
      }
      for (const PointwiseVariant& variant : kPointwiseVariants)
        out.push_back(pointwise_tactic(problem, *lowered, variant, context));
      reason = {};
    }
  }
  return reason;
}

// Elements a thread: 8 where no vector crosses the end of a pixel's channels.
int64_t pointwise_width(const PointwiseCase& c, bool channels) {
  return volume(c.frame.dims) % 8 == 0 && (!channels || c.frame.padded % 8 == 0) ? 8 : 1;
}

Result<KernelPlan> plan_pointwise(const Problem& problem, const Tactic& tactic,
                                  const KernelContext&) {
  CHECK_OK(require_floats(problem));
  const PointwiseVariant* variant = find_variant(kPointwiseVariants, tactic);
  if (!variant) return no_variant(tactic);
  const int64_t x_pitch = tactic.inputs[0].layout.pitch, y_pitch = tactic.outputs[0].layout.pitch;
  TRY(const PointwiseCase c, lower_pointwise(problem, without_pitch(tactic.outputs[0])));
  if (x_pitch > 0 && !reads_first_input_once(c)) return no_variant(tactic);
  const DataType type = tactic.outputs[0].type;
  const bool channels = x_pitch > 0 || y_pitch > 0 || needs_channels(c.anchor.sources) ||
                        needs_channels(c.epilogue.sources);
  const int64_t total = volume(c.frame.dims), width = pointwise_width(c, channels);
  const int64_t ldy = channels ? c.frame.padded : total;
  KernelPlan plan;
  define_types(plan.program, type, type);
  plan.program.define("WIDTH", width);
  plan.program.define("THREADS", variant->threads);
  if (x_pitch > 0) plan.program.define("READS_PITCHED", 1);
  if (y_pitch > 0) plan.program.define("PITCHED", 1);
  std::vector<ElementOperand> operands;
  for (const EpilogueSource& s : c.anchor.sources) {
    const DataType own = problem.inputs[static_cast<size_t>(s.input)].type.type;
    operands.push_back({s.access, is_floating(own) ? type : own, s.strides});
  }
  plan.program.functions = elements_text(operands, c.anchor.statements, c.anchor.expression) +
                           epilogue_text(c.epilogue.code);
  plan.program.files = {"pointwise/args.h", "pointwise/pointwise.cuh"};
  const Dims& dims = c.frame.dims;
  gpu::PointwiseArgs args{};
  args.total = to_int(total);
  args.ldy = to_int(ldy);
  args.x_pitch = to_int(x_pitch);
  args.y_pitch = to_int(y_pitch);
  args.by_ldy = make_divisor(ldy);
  args.by_pixels = make_divisor(dims.size() > 2 ? total / (dims[0] * dims[1]) : 1);
  KernelLaunch launch = launch_of(args, total / width, static_cast<unsigned>(variant->threads));
  launch.slots = {{offsetof(gpu::PointwiseArgs, y), PointerSource::output, 0}};
  attach_operands(c.anchor.sources, c.frame, offsetof(gpu::PointwiseArgs, operands), plan, launch);
  attach_epilogue(c.epilogue, offsetof(gpu::PointwiseArgs, epilogue), plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kPointwiseFamily{"pointwise", offer_pointwise, plan_pointwise, true, true};

}  // namespace enginery
