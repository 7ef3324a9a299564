// Family conv_simt: convolutions and GEMMs without tensor cores, on every SM (conv_simt.cuh): of
// floats, and of quantised numbers by dp4a.
#include <algorithm>

#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/quantized_launch.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"

namespace enginery {
namespace {

// A BM x BN tile, BK elements along K (words of four where they have 8 bits), TM x 8 outputs a
// thread; split-K: parts along K whose sums pass through memory, in two launches.
struct SimtVariant {
  int bm, bn, bk, tm, split_k;
};

constexpr SimtVariant kSimtVariants[] = {
    {128, 128, 8, 8, 1}, {128, 64, 8, 8, 1}, {64, 64, 16, 8, 1}, {64, 32, 16, 4, 1},
    {32, 32, 16, 4, 1},  {128, 64, 8, 8, 4}, {64, 64, 16, 8, 4}, {64, 64, 16, 8, 8},
    {64, 64, 16, 8, 16}, {32, 32, 16, 4, 4}, {32, 32, 16, 4, 8},
};

// Channels that a thread of the second launch of split-K adds up.
constexpr int64_t kSimtSumVector = 4;

// A variant for a shape whose x has elements of `type`.
struct SimtCase {
  ConvShape shape;
  SimtVariant variant;
  DataType type = DataType::float32;

  // Channels of an element of the text, and of a step along K.
  int64_t of_element() const { return is_eight_bits(type) ? 4 : 1; }
  int64_t bk() const { return variant.bk * of_element(); }
  int64_t steps() const { return filter_steps(shape, bk()); }
  int64_t tiles_m() const { return divide_up(shape.m(), variant.bm); }
  int64_t tiles_k() const { return divide_up(shape.k_pitch(), variant.bn); }
  int64_t workspace_bytes() const { return partial_sum_bytes(shape, variant.split_k, variant.bn); }
};

std::string id_of(const SimtCase& c) {
  const SimtVariant& v = c.variant;
  const int usual_tm = v.bm * v.bn >= 4096 ? 8 : 4;
  std::string id = is_eight_bits(c.type) ? "conv_simt/int8_" : "conv_simt/";
  id += std::to_string(v.bm) + "x" + std::to_string(v.bn) + "x" + std::to_string(v.bk);
  if (v.tm != usual_tm) id += "_m" + std::to_string(v.tm);
  if (v.split_k > 1) id += "_k" + std::to_string(v.split_k);
  return id;
}

Status require_simt(const ConvShape& shape, DataType type) {
  if (shape.groups != 1) return refusal("groups");
  if (shape.r > 32 || shape.s > 32) return refusal("a filter larger than 32");
  const int64_t block = is_eight_bits(type) ? kByteChannels : 4;
  if (shape.c_pitch() % block || shape.k_pitch() % 4)
    return refusal("a matrix product whose sizes are no multiples of " + std::to_string(block));
  return {};
}

// A part without steps would write nothing.
bool serves(const SimtCase& c) {
  return c.variant.split_k == 1 || c.steps() >= 2 * c.variant.split_k;
}

// The case among all variants that has the tactic's id. Errors: incompatible (there is none).
Result<SimtCase> find_case(const ConvShape& shape, DataType type, const Tactic& tactic) {
  CHECK_OK(require_simt(shape, type));
  for (const SimtVariant& variant : kSimtVariants) {
    const SimtCase c{shape, variant, type};
    if (id_of(c) == tactic.id && serves(c)) return c;
  }
  return no_variant(tactic);
}

double simt_estimate_us(const SimtCase& c, const KernelContext& context) {
  const SimtVariant& v = c.variant;
  int64_t blocks = c.tiles_m() * c.tiles_k() * v.split_k;
  double area = static_cast<double>(v.bm) * v.bn;
  double share = area >= 8192 ? 0.7 : area >= 4096 ? 0.55 : 0.35;
  double each = static_cast<double>(divide_up(blocks, context.info.compute_units));
  double steps = static_cast<double>(divide_up(c.steps(), v.split_k));
  double depth = steps * v.bk;
  double compute = 1e6 * each * 2 * area * depth /
                   (context.info.float32_flops * share / context.info.compute_units);
  constexpr double kStartUs = 2.5, kStepUs = 0.4;
  double sums_us =
      v.split_k > 1 ? context.memory_us(2.0 * static_cast<double>(c.workspace_bytes()), 1) : 0;
  const double bytes = conv_bytes(c.shape, c.type);
  return kStartUs + std::max({compute, steps * kStepUs, context.memory_us(bytes, 0)}) + sums_us;
}

// A tactic for each variant that serves: `tactic` with its id, workspace and estimate.
void offer_variants(const ConvShape& shape, DataType type, const Tactic& tactic,
                    const KernelContext& context, std::vector<Tactic>& out) {
  for (const SimtVariant& variant : kSimtVariants) {
    const SimtCase c{shape, variant, type};
    if (!serves(c)) continue;
    out.push_back(tactic);
    out.back().id = id_of(c);
    out.back().workspace_bytes = c.workspace_bytes();
    out.back().estimated_us = simt_estimate_us(c, context);
  }
}

Status offer_quantized_simt(const Problem& problem, const KernelContext& context,
                            std::vector<Tactic>& out) {
  TRY(const QuantizedConv conv, quantized_conv(problem));
  const DataType source = conv.product.source;
  CHECK_OK(require_simt(conv.shape, source));
  for (Tactic& tactic : quantized_tactics(problem, conv, context)) {
    tactic.writes_pitched = tactic.reads_pitched = !conv.shape.gemm;
    offer_variants(conv.shape, source, tactic, context, out);
  }
  return {};
}

Status offer_conv_simt(const Problem& problem, const KernelContext& context,
                       std::vector<Tactic>& out) {
  if (is_region(problem)) return offer_quantized_simt(problem, context, out);
  TRY(const ConvShape shape, conv_shape(problem));
  for (DataType type : context.storage_types()) {
    CHECK_OK(require_simt(shape, type));
    TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
    Tactic tactic = make_conv_tactic(problem, shape, epilogue, "");
    tactic.writes_pitched = tactic.reads_pitched = !shape.gemm;
    offer_variants(shape, type, tactic, context, out);
  }
  return {};
}

// But for the epilogue's functions; `result` is the element type of y.
KernelProgram simt_program(const SimtCase& c, DataType result) {
  const SimtVariant& v = c.variant;
  const bool bytes = is_eight_bits(c.type);
  KernelProgram program;
  define_types(program, bytes ? DataType::int32 : c.type, result);
  program.define("TSUM", bytes ? "int" : "float");
  program.define("BM", v.bm);
  program.define("BN", v.bn);
  program.define("BK", v.bk);
  program.define("TM", v.tm);
  program.define("POINTWISE", c.shape.pointwise());
  program.define("FLAT", c.shape.flat(c.bk()));
  program.define("SPLIT_K", v.split_k > 1);
  program.define("SUM_VECTOR", kSimtSumVector);
  if (bytes) {
    program.define("X_UNSIGNED", c.type == DataType::uint8);
    program.types.push_back("text/bytes.cuh");
  }
  for (const char* file : {"text/conv_index.cuh", "conv_simt/conv_simt.cuh", "text/split_k.cuh"})
    program.files.push_back(file);
  return program;
}

// The launch with packed weights but for the epilogue's operands.
Result<KernelLaunch> simt_launch(const SimtCase& c, const Tactic& tactic, PackConstant weights,
                                 KernelPlan& plan) {
  const SimtVariant& v = c.variant;
  gpu::ConvArgs args = conv_args(c.shape);
  CHECK_OK(keep_to_pitches(c.shape, tactic, plan.program, args));
  args.x_pitch /= to_int(c.of_element());
  args.c = to_int(c.shape.c_pitch() / c.of_element());
  args.by_c = make_divisor(args.c);
  args.steps = to_int(c.steps());
  args.tiles_k = to_int(c.tiles_k());
  args.by_tiles_k = make_divisor(c.tiles_k());
  args.w_pitch = args.steps * v.bk;
  args.split_k = v.split_k;
  KernelLaunch launch;
  launch.grid = {static_cast<unsigned>(c.tiles_m() * c.tiles_k()), 1,
                 static_cast<unsigned>(v.split_k)};
  launch.threads = static_cast<unsigned>(v.bm / v.tm * (v.bn / 8));
  launch.arguments = argument_bytes(args);
  launch.slots = conv_slots(plan.add_constant(std::move(weights)));
  return launch;
}

void add_simt_launch(const SimtCase& c, KernelLaunch launch, KernelPlan& plan) {
  if (c.variant.split_k > 1)
    add_split_k(c.shape, c.workspace_bytes(), kSimtSumVector, plan, launch);
  plan.launches.push_back(std::move(launch));
}

Result<KernelPlan> plan_quantized_simt(const Problem& problem, const Tactic& tactic) {
  TRY(const QuantizedConv conv, quantized_conv(problem));
  TRY(const SimtCase c, find_case(conv.shape, conv.product.source, tactic));
  KernelPlan plan;
  plan.program = simt_program(c, tactic.outputs[0].type);
  plan.program.functions = epilogue_text(quantized_epilogue(conv, tactic));
  PackConstant weights = pack_region_weights(
      conv.product.weights, pack_filter(c.shape, DataType::int8, c.bk(), c.variant.bn, false));
  TRY(KernelLaunch launch, simt_launch(c, tactic, std::move(weights), plan));
  attach_quantized(conv, offsetof(gpu::ConvArgs, epilogue), plan, launch);
  add_simt_launch(c, std::move(launch), plan);
  return plan;
}

Result<KernelPlan> plan_conv_simt(const Problem& problem, const Tactic& tactic,
                                  const KernelContext&) {
  if (is_region(problem)) return plan_quantized_simt(problem, tactic);
  TRY(const ConvShape shape, conv_shape(problem));
  TRY(const SimtCase c, find_case(shape, tactic.inputs[0].type, tactic));
  TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, c.type));
  KernelPlan plan;
  plan.program = simt_program(c, c.type);
  plan.program.functions = epilogue_text(epilogue.code);
  TRY(KernelLaunch launch,
      simt_launch(c, tactic, pack_filter(shape, c.type, c.bk(), c.variant.bn, false), plan));
  attach_epilogue(epilogue, offsetof(gpu::ConvArgs, epilogue), plan, launch);
  add_simt_launch(c, std::move(launch), plan);
  return plan;
}

}  // namespace

const KernelFamily kConvSimtFamily{"conv_simt", offer_conv_simt, plan_conv_simt, true, true};

}  // namespace enginery
