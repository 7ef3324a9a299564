// Family reduce: sums, means and extremes over any dimensions (reduce.cuh).
#include <cmath>

#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/reduce/args.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"
#include "engine/tactics/cuda/kernel/text/number_text.h"

namespace enginery {
namespace {

struct ReduceVariant {
  int group;  // threads that own one output: 1, a warp of 32, or a block of 256
};

constexpr ReduceVariant kReduceVariants[] = {{1}, {32}, {256}};

std::string id_of(const ReduceVariant& v) {
  return v.group == 1 ? "reduce/threads" : v.group == 32 ? "reduce/warps" : "reduce/blocks";
}

// Expressions: where a result starts, what an element x adds, how results p and q join, what
// becomes of p over n elements.
struct ReduceText {
  const char *first, *each, *join, *last;
};

std::optional<ReduceText> text_of(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::sum:
      return ReduceText{"0.0f", "x", "p + q", "p"};
    case ReduceKind::mean:
      return ReduceText{"0.0f", "x", "p + q", "p / n"};
    case ReduceKind::max:
      return ReduceText{"-INFINITY", "x", "larger(p, q)", "p"};
    case ReduceKind::min:
      return ReduceText{"INFINITY", "x", "smaller(p, q)", "p"};
    case ReduceKind::prod:
      return ReduceText{"1.0f", "x", "p * q", "p"};
    case ReduceKind::sum_square:
      return ReduceText{"0.0f", "x * x", "p + q", "p"};
    case ReduceKind::l1:
      return ReduceText{"0.0f", "fabsf(x)", "p + q", "p"};
    case ReduceKind::l2:
      return ReduceText{"0.0f", "x * x", "p + q", "sqrtf(p)"};
    case ReduceKind::log_sum:
      return ReduceText{"0.0f", "x", "p + q", "logf(p)"};
    case ReduceKind::log_sum_exp:  // equal ones, infinite ones too, are never subtracted
      return ReduceText{"-INFINITY", "x",
                        "p == q ? p + 0.69314718f : larger(p, q) + log1pf(expf(-fabsf(p - q)))",
                        "p"};
  }
  return {};
}

std::optional<ReduceText> integers_text_of(ReduceKind kind, DataType type) {
  const bool wide = type == DataType::int64;
  switch (kind) {
    case ReduceKind::sum:
      return ReduceText{"0", "x", "ADD(p, q)", ""};
    case ReduceKind::max:
      return ReduceText{wide ? "-0x7fffffffffffffffLL - 1" : "-0x7fffffff - 1", "x",
                        "p > q ? p : q", ""};
    case ReduceKind::min:
      return ReduceText{wide ? "0x7fffffffffffffffLL" : "0x7fffffff", "x", "p < q ? p : q", ""};
    case ReduceKind::prod:
      return ReduceText{"1", "x", "MULTIPLY(p, q)", ""};
    default:
      return {};
  }
}

struct ReduceCase {
  ReduceText text;
  BroadcastStrides kept, reduced;
  int64_t outputs = 1, count = 1;  // count: elements an output
  LoweredEpilogue epilogue;
};

// Reads x as `format` stores it; writes in order.
Result<ReduceCase> lower_reduce(const Problem& problem, const Format& format) {
  const auto* op = std::get_if<Reduce>(&problem.op);
  if (!op) return refusal("no reduction");
  CHECK_OK(require_static(problem));
  const TensorType &x = problem.inputs[0].type, &y = problem.outputs[0].type;
  const bool floats = is_floating(x.type);
  const auto text = floats ? text_of(op->kind) : integers_text_of(op->kind, x.type);
  if (!text || !are_combined(x.type) || problem.inputs[0].constant)
    return refusal("no reduction that kernels have");
  if (!floats && !problem.epilogue.empty()) return refusal("a fused chain on integers");
  if (volume(x.dims) == 0 || volume(y.dims) == 0) return refusal("no elements");
  std::vector<bool> over(x.dims.size(), op->axes.empty() && !op->none_is_identity);
  for (int64_t axis : op->axes) over[static_cast<size_t>(wrapped(axis, x.dims.size()))] = true;
  ReduceCase out{*text, {}, {}, 1, 1, {}};
  const Dims strides = layout_strides(x.dims, format.layout);
  for (size_t d = 0; d < x.dims.size(); ++d) {
    (over[d] ? out.reduced : out.kept).append(x.dims[d], strides[d]);
    (over[d] ? out.count : out.outputs) *= x.dims[d];
  }
  if (y.dims.empty() && !problem.epilogue.empty())
    return refusal("a fused chain on a single number");
  TRY(out.epilogue, lower_epilogue(problem, frame_in_order(y.dims, format.type)));
  return out;
}

// Lanes read what lies side by side where they own what the storage has innermost; a thread's turn
// costs about that much.
double reduce_estimate_us(const ReduceCase& c, const ReduceVariant& v, const KernelContext& context,
                          double bytes) {
  const bool reduced_innermost = !c.reduced.strides.empty() && c.reduced.strides.back() == 1;
  const double waste = reduced_innermost == (v.group > 1) ? 1 : 8;
  constexpr double kTurnUs = 0.01;
  const double turns = static_cast<double>(divide_up(c.count, v.group));
  const double waves =
      std::ceil(static_cast<double>(c.outputs) * v.group / (2048.0 * context.info.compute_units));
  return context.memory_us(waste * bytes) + kTurnUs * turns * waves;
}

Status offer_reduce(const Problem& problem, const KernelContext& context,
                    std::vector<Tactic>& out) {
  if (!std::holds_alternative<Reduce>(problem.op)) return refusal("no reduction");
  const Dims& dims = problem.inputs[0].type.dims;
  const DataType own = problem.inputs[0].type.type;
  for (DataType type : kept_types(own, context)) {
    std::vector<Format> formats{{type, {}}};
    if (dims.size() > 2 && is_floating(own)) formats.push_back(channels_last_format(type, dims[1]));
    for (const Format& format : formats) {
      TRY(const ReduceCase c, lower_reduce(problem, format));
      const auto bytes = static_cast<double>(physical_bytes(dims, format));
      for (const ReduceVariant& variant : kReduceVariants) {
        Tactic tactic = make_kernel_tactic(problem, id_of(variant));
        want_operands(c.epilogue, tactic);
        tactic.inputs[0] = format;
        tactic.outputs[0] = {type, {}};
        tactic.compute = precision_of_storage(type);
        tactic.estimated_us = reduce_estimate_us(c, variant, context, bytes);
        out.push_back(std::move(tactic));
      }
    }
  }
  return {};
}

std::string reduce_functions(const ReduceCase& c, DataType x) {
  const bool floats = is_floating(x);
  const std::string type = floats ? "float" : element_type_text(x);
  const auto function = [&](const std::string& head, const std::string& result) {
    return "__device__ __forceinline__ " + type + " " + head + " { return " + result + "; }\n";
  };
  const std::string last = floats ? function("reduce_last(float p, float n)", c.text.last) : "",
                    epilogue = floats ? epilogue_text(c.epilogue.code) : "";
  return function("reduce_first()", c.text.first) +
         function("reduce_each(" + type + " x)", c.text.each) +
         function("reduce_join(" + type + " p, " + type + " q)", c.text.join) + last +
         place_text("kept_place", c.kept) + place_text("reduced_place", c.reduced) + epilogue;
}

Result<KernelPlan> plan_reduce(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  const ReduceVariant* variant = find_variant(kReduceVariants, tactic);
  if (!variant) return no_variant(tactic);
  TRY(const ReduceCase c, lower_reduce(problem, tactic.inputs[0]));
  KernelPlan plan;
  define_types(plan.program, tactic.inputs[0].type, tactic.outputs[0].type);
  define_numbers(plan.program, tactic.inputs[0].type);
  plan.program.define("GROUP", variant->group);
  plan.program.functions = reduce_functions(c, tactic.inputs[0].type);
  plan.program.files = {"reduce/args.h", "reduce/reduce.cuh"};
  gpu::ReduceArgs args{};
  args.outputs = static_cast<unsigned>(c.outputs);
  args.reduced = static_cast<unsigned>(c.count);
  args.ldy = to_int(c.epilogue.frame.padded);
  KernelLaunch launch = launch_of(args, c.outputs * variant->group, 256);
  launch.slots = {{offsetof(gpu::ReduceArgs, x), PointerSource::input, 0},
                  {offsetof(gpu::ReduceArgs, y), PointerSource::output, 0}};
  attach_epilogue(c.epilogue, offsetof(gpu::ReduceArgs, epilogue), plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kReduceFamily{"reduce", offer_reduce, plan_reduce};

}  // namespace enginery
