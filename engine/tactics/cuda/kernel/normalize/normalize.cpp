// Family normalize: layer and instance normalisation over rows of elements side by side
// (normalize.cuh).
#include <algorithm>
#include <cmath>

#include "engine/tactics/bias_axis.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/normalize/args.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"
#include "engine/tactics/shapes/norm_rows.h"

namespace enginery {
namespace {

struct NormalizeVariant {
  int lanes;    // threads that own a row
  int threads;  // of a block
  int reads;    // of memory: 1, the row is kept in registers, or 3
};

constexpr NormalizeVariant kNormalizeVariants[] = {
    {8, 128, 1},   {32, 128, 1},    {128, 128, 1}, {256, 256, 1},
    {512, 512, 1}, {1024, 1024, 1}, {512, 512, 3}, {1024, 1024, 3},
};

std::string id_of(const NormalizeVariant& v) {
  return "normalize/l" + std::to_string(v.lanes) + "_t" + std::to_string(v.threads) +
         (v.reads == 1 ? "" : "_r" + std::to_string(v.reads));
}

struct NormalizeCase {
  NormRows rows;
  LoweredEpilogue epilogue;
  int64_t width = 1;  // elements of a vector
};

// Scale and bias come as constants, or at run time with an element for each place.
Status require_factors(const Problem& problem, const NormRows& rows) {
  for (size_t i = 1; i < static_cast<size_t>(problem.anchor_inputs); ++i) {
    const TensorDesc& desc = problem.inputs[i];
    if (desc.present && !desc.constant && volume(desc.type.dims) != volume(rows.factors))
      return refusal("a run-time scale or bias that repeats");
  }
  return {};
}

// Kernels read a bias of the chain along the last dimension.
Status require_last_bias(const Problem& problem) {
  const size_t rank = output_dims(problem).size();
  for (const EpilogueStep& step : problem.epilogue)
    if (step.kind == EpilogueKind::bias && bias_axis(problem.op, rank) + 1 != rank)
      return refusal("a fused bias along another dimension than the last");
  return {};
}

// No vector crosses the end of a row, nor, where a chain follows, that of the last dimension.
int64_t vector_width(const NormRows& rows, const Problem& problem, DataType x, DataType y) {
  const bool narrow = x != DataType::float32 || y != DataType::float32;
  for (const int64_t width : {narrow ? 8 : 4, 4}) {
    const bool chain_fits = problem.epilogue.empty() || output_dims(problem).back() % width == 0;
    if (rows.size % width == 0 && chain_fits) return width;
  }
  return 1;
}

Result<NormalizeCase> lower_normalize(const Problem& problem, DataType x, DataType y) {
  TRY(const NormRows rows, norm_rows(problem));
  CHECK_OK(require_static(problem));
  CHECK_OK(require_run_time_data(problem));
  CHECK_OK(require_factors(problem, rows));
  CHECK_OK(require_last_bias(problem));
  NormalizeCase out{rows, {}, vector_width(rows, problem, x, y)};
  TRY(out.epilogue, lower_epilogue(problem, frame_in_order(output_dims(problem), y)));
  return out;
}

// Vectors that a thread keeps in registers.
int64_t held_vectors(const NormalizeCase& c, const NormalizeVariant& v) {
  return v.reads == 1 ? divide_up(c.rows.size, v.lanes * c.width) : 0;
}

// Whether the row fits into the lanes' registers and keeps at least half of them busy; what is read
// again is longer than what the largest block keeps.
bool serves(const NormalizeCase& c, const NormalizeVariant& v) {
  constexpr int64_t kMaxHeldElements = 32;
  const auto& largest = kNormalizeVariants[5];
  if (v.reads > 1) return held_vectors(c, largest) * c.width > kMaxHeldElements;
  const bool is_smallest = v.lanes == kNormalizeVariants[0].lanes;
  return held_vectors(c, v) * c.width <= kMaxHeldElements &&
         (is_smallest || 2 * c.rows.size > v.lanes * c.width);
}

double normalize_estimate_us(const NormalizeCase& c, const NormalizeVariant& v, double bytes,
                             const KernelContext& context) {
  constexpr double kElementUs = 0.02, kMeetUs = 0.4;
  const double each = std::ceil(static_cast<double>(c.rows.size) / v.lanes) * v.reads;
  const double waves =
      std::ceil(static_cast<double>(c.rows.rows) * v.lanes / (2048.0 * context.info.compute_units));
  return context.memory_us(bytes) + waves * (kElementUs * each + (v.lanes > 32 ? kMeetUs : 0));
}

Tactic normalize_tactic(const Problem& problem, const NormalizeCase& c,
                        const NormalizeVariant& variant, DataType x, const KernelContext& context) {
  const DataType y = c.epilogue.frame.format.type;
  Tactic tactic = make_kernel_tactic(problem, id_of(variant));
  want_operands(c.epilogue, tactic);
  tactic.inputs[0] = {x, {}};
  for (size_t i = 1; i < static_cast<size_t>(problem.anchor_inputs); ++i)
    tactic.inputs[i] = {DataType::float32, {}};
  tactic.outputs[0] = {y, {}};
  tactic.compute = precision_of_storage(x, y);
  const int64_t bytes = volume(output_dims(problem)) * (element_bytes(x) + element_bytes(y));
  tactic.estimated_us = normalize_estimate_us(c, variant, static_cast<double>(bytes), context);
  return tactic;
}

Status offer_normalize(const Problem& problem, const KernelContext& context,
                       std::vector<Tactic>& out) {
  for (const DataType x : context.storage_types()) {
    for (const DataType y : context.storage_types()) {
      TRY(const NormalizeCase c, lower_normalize(problem, x, y));
      for (const NormalizeVariant& variant : kNormalizeVariants)
        if (serves(c, variant)) out.push_back(normalize_tactic(problem, c, variant, x, context));
    }
  }
  return {};
}

// Where the launch finds scale (input 1) or bias (input 2).
PointerSlot factor_slot(const Problem& problem, int input, size_t offset, const NormRows& rows,
                        KernelPlan& plan) {
  if (!problem.inputs[static_cast<size_t>(input)].constant)
    return {offset, PointerSource::input, input};
  PackConstant pack = [input, rows](Weights weights) {
    const Tensor factors = norm_factors(rows, *weights[static_cast<size_t>(input)]);
    return Bytes(as_text(factors.byte_span()));
  };
  return {offset, PointerSource::constant, plan.add_constant(std::move(pack))};
}

void define_rows(const NormalizeCase& c, const NormalizeVariant& v, KernelProgram& program) {
  program.define("LANES", v.lanes);
  program.define("THREADS", v.threads);
  program.define("WIDTH", c.width);
  program.define("HELD", held_vectors(c, v));
  program.define("SIZE", c.rows.size);
  program.define("PERIOD", c.rows.period);
  program.define("STEP", c.rows.step);
  program.define("EACH", c.rows.each);
  program.define("CENTRED", c.rows.centred);
  program.define("HAS_BIAS", c.rows.has_bias);
}

Result<KernelPlan> plan_normalize(const Problem& problem, const Tactic& tactic,
                                  const KernelContext&) {
  const NormalizeVariant* variant = find_variant(kNormalizeVariants, tactic);
  if (!variant) return no_variant(tactic);
  const DataType x = tactic.inputs[0].type, y = tactic.outputs[0].type;
  TRY(const NormalizeCase c, lower_normalize(problem, x, y));
  if (!serves(c, *variant)) return no_variant(tactic);
  KernelPlan plan;
  define_types(plan.program, x, y);
  define_rows(c, *variant, plan.program);
  plan.program.functions = epilogue_text(c.epilogue.code);
  plan.program.files = {"normalize/args.h", "normalize/normalize.cuh"};
  gpu::NormalizeArgs args{};
  args.rows = static_cast<unsigned>(c.rows.rows);
  args.epsilon = c.rows.epsilon;
  args.ldy = to_int(c.epilogue.frame.padded);
  KernelLaunch launch =
      launch_of(args, c.rows.rows * variant->lanes, static_cast<unsigned>(variant->threads));
  launch.slots = {{offsetof(gpu::NormalizeArgs, x), PointerSource::input, 0},
                  {offsetof(gpu::NormalizeArgs, y), PointerSource::output, 0}};
  launch.slots.push_back(
      factor_slot(problem, 1, offsetof(gpu::NormalizeArgs, scale), c.rows, plan));
  if (c.rows.has_bias)
    launch.slots.push_back(
        factor_slot(problem, 2, offsetof(gpu::NormalizeArgs, bias), c.rows, plan));
  attach_epilogue(c.epilogue, offsetof(gpu::NormalizeArgs, epilogue), plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kNormalizeFamily{"normalize", offer_normalize, plan_normalize};

}  // namespace enginery
