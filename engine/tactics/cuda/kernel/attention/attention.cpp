// Family attention: softmax(scale * q k^T + masks) v in one kernel, on tensor cores (mma.cuh) and
// without them (simt.cuh).
#include <algorithm>
#include <cmath>

#include "engine/tactics/cuda/kernel/attention/args.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/shapes/attention_shape.h"

namespace enginery {
namespace {

// On tensor cores 16 queries a warp; the keys of a step are shared by `key_warps` warps of the same
// queries. `rows` > 0: without tensor cores, so many queries a warp, 32 keys a step.
struct AttentionVariant {
  int query_warps, key_warps;
  int keys;  // a step
  int stages;
  int min_sm;
  int rows = 0;
};

constexpr AttentionVariant kAttentionVariants[] = {
    {4, 1, 64, 2, 80},    {4, 1, 32, 2, 80},    {4, 1, 128, 1, 80},   {8, 1, 64, 2, 80},
    {2, 1, 64, 2, 80},    {2, 2, 64, 2, 80},    {2, 2, 128, 2, 80},   {2, 4, 128, 2, 80},
    {4, 2, 128, 2, 80},   {1, 2, 64, 2, 80},    {1, 4, 64, 2, 80},    {1, 4, 128, 2, 80},
    {1, 8, 256, 1, 80},   {1, 4, 64, 3, 80},    {4, 1, 64, 3, 80},    {4, 1, 64, 1, 75},
    {2, 1, 64, 1, 75},    {2, 2, 64, 1, 75},    {1, 4, 64, 1, 75},    {1, 4, 128, 1, 75},
    {4, 1, 32, 1, 60, 1}, {4, 1, 32, 1, 60, 2}, {4, 1, 32, 1, 60, 4},
};

std::string id_of(const AttentionVariant& v) {
  if (v.rows > 0) return "attention/simt_r" + std::to_string(v.rows);
  const std::string id = "attention/mma_" + std::to_string(16 * v.query_warps) + "x" +
                         std::to_string(v.keys) + "_s" + std::to_string(v.stages);
  return v.key_warps == 1 ? id : id + "_p" + std::to_string(v.key_warps);
}

int64_t queries_of(const AttentionVariant& v) {
  return int64_t{v.query_warps} * (v.rows > 0 ? v.rows : 16);
}

unsigned threads_of_block(const AttentionVariant& v) {
  return static_cast<unsigned>(32 * v.query_warps * v.key_warps);
}

int64_t padded_depth(int64_t size) {
  return round_up(size, 16);
}

// Queries and two operands of every stage; in their place, at the end, what the warps of the same
// queries have.
int64_t mma_shared_bytes(const AttentionShape& shape, const AttentionVariant& v) {
  const int64_t k = padded_depth(shape.depth) + 8, width = padded_depth(shape.width);
  const int64_t elements = queries_of(v) * k + int64_t{v.stages} * v.keys * (k + width + 8);
  const int64_t parts = int64_t{v.query_warps} * (v.key_warps - 1) * (width / 2 + 4) * 32;
  return std::max(elements * 2, parts * 4);
}

int64_t simt_shared_bytes(const AttentionShape& shape, const AttentionVariant& v) {
  return 4 * (v.keys * (std::max(shape.depth, shape.width) + 1) +
              queries_of(v) * (shape.depth + v.keys));
}

bool mma_serves(const AttentionShape& shape, const AttentionVariant& v,
                const KernelContext& context) {
  constexpr int64_t kChunk = 8, kMaxDepth = 128;  // halves a copy; what registers hold
  const bool aligned =
      shape.q.is_aligned(kChunk) && shape.k.is_aligned(kChunk) && shape.v.is_aligned(kChunk);
  return context.limits.compute_capability >= v.min_sm && aligned && shape.depth % kChunk == 0 &&
         shape.width % kChunk == 0 && std::max(shape.depth, shape.width) <= kMaxDepth &&
         mma_shared_bytes(shape, v) <= int64_t{context.limits.shared_kib_per_block} * 1024;
}

// Tensor cores multiply float16, and bfloat16 where they have asynchronous copies, too.
bool serves(const AttentionShape& shape, const AttentionVariant& v, DataType type,
            const KernelContext& context) {
  constexpr int64_t kMaxStaticShared = 48 * 1024;
  if (v.rows > 0) return simt_shared_bytes(shape, v) <= kMaxStaticShared;
  const bool is_short = type == DataType::float16 || (type == DataType::bfloat16 && v.min_sm >= 80);
  return is_short && mma_serves(shape, v, context);
}

double attention_flops(const AttentionShape& s) {
  return 2.0 * static_cast<double>(s.matrices() * s.queries) *
         static_cast<double>(s.keys * (s.depth + s.width));
}

double attention_bytes(const AttentionShape& s, DataType type) {
  const int64_t elements = s.queries * (s.depth + s.width) + s.keys * (s.depth + s.width);
  return static_cast<double>(s.matrices() * elements * element_bytes(type));
}

double blocks_of(const AttentionShape& s, const AttentionVariant& v) {
  return static_cast<double>(s.matrices() * divide_up(s.queries, queries_of(v)));
}
double steps_of(const AttentionShape& s, const AttentionVariant& v) {
  return static_cast<double>(divide_up(s.keys, v.keys));
}

// Blocks go in waves of what the SMs' shared memory holds; a step of a block waits for its copies.
double mma_us(const AttentionShape& s, const AttentionVariant& v, const KernelContext& context) {
  constexpr double kStepUs = 0.25, kStepElementUs = 4e-5, kJoinUs = 0.5, kShare = 0.4;
  const double shared = static_cast<double>(mma_shared_bytes(s, v));
  const double held = std::max(1.0, std::floor(context.limits.shared_kib_per_sm * 1024.0 / shared));
  const double by_threads =
      context.limits.threads_per_sm / static_cast<double>(threads_of_block(v));
  const double at_once = context.info.compute_units * std::min(held, by_threads);
  const double step = kStepUs / v.stages + kStepElementUs * v.keys / v.key_warps *
                                               static_cast<double>(s.depth + s.width);
  const double arithmetic = 1e6 * attention_flops(s) / (kShare * context.info.float16_flops);
  return std::max(arithmetic, std::ceil(blocks_of(s, v) / at_once) * steps_of(s, v) * step) +
         (v.key_warps > 1 ? kJoinUs : 0);
}

double simt_us(const AttentionShape& s, const AttentionVariant& v, const KernelContext& context) {
  constexpr double kStepUs = 2, kShare = 0.15;
  const double waves = std::ceil(blocks_of(s, v) / (4.0 * context.info.compute_units));
  const double arithmetic = 1e6 * attention_flops(s) / (kShare * context.info.float32_flops);
  return std::max(arithmetic, waves * steps_of(s, v) * kStepUs);
}

Tactic attention_tactic(const Problem& problem, const AttentionShape& shape,
                        const AttentionVariant& v, DataType type, const KernelContext& context) {
  Tactic tactic = make_kernel_tactic(problem, id_of(v));
  for (const size_t i : {0u, 1u, 2u}) tactic.inputs[i] = {type, {}};
  // Masks hold the least float32: in float16 it would be -infinity.
  if (shape.addend.present) tactic.inputs[3] = {DataType::float32, {}};
  tactic.outputs[0] = {type, {}};
  tactic.compute = precision_of_storage(type);
  tactic.estimated_us = context.memory_us(attention_bytes(shape, type)) +
                        (v.rows > 0 ? simt_us(shape, v, context) : mma_us(shape, v, context));
  return tactic;
}

Status offer_attention(const Problem& problem, const KernelContext& context,
                       std::vector<Tactic>& out) {
  TRY(const AttentionShape shape, attention_shape(problem));
  for (const DataType type : context.storage_types()) {
    for (const AttentionVariant& v : kAttentionVariants)
      if (serves(shape, v, type, context))
        out.push_back(attention_tactic(problem, shape, v, type, context));
  }
  return {};
}

gpu::MatrixPlaces matrix_places(const AttentionPlaces& p) {
  return {to_int(p.offset),   to_int(p.batch[0]), to_int(p.batch[1]),
          to_int(p.batch[2]), to_int(p.row),      to_int(p.column)};
}

gpu::AttentionArgs attention_args(const AttentionShape& s, int64_t queries_of_block) {
  gpu::AttentionArgs args{};
  args.q_places = matrix_places(s.q);
  args.k_places = matrix_places(s.k);
  args.v_places = matrix_places(s.v);
  args.y_places = matrix_places(s.y);
  args.addend_places = matrix_places(s.addend);
  args.choice_places = matrix_places(s.choice);
  args.queries = to_int(s.queries);
  args.keys = to_int(s.keys);
  args.tiles = to_int(divide_up(s.queries, queries_of_block));
  args.n1 = to_int(s.batch[1]);
  args.n2 = to_int(s.batch[2]);
  args.scale = s.scale;
  args.blank = s.blank;
  return args;
}

void define_masks(const AttentionShape& s, KernelProgram& program) {
  program.define("CAUSAL", s.causal);
  program.define("HAS_ADDEND", s.addend.present);
  program.define("HAS_CHOICE", s.choice.present);
  program.define("HIDES", s.hides);
  program.define("NAN_IS_ZERO", s.zeros == ZeroRows::nan);
  program.define("MASKED_IS_ZERO", s.zeros == ZeroRows::masked);
}

void define_mma(const AttentionShape& s, const AttentionVariant& v, DataType type,
                KernelProgram& program) {
  program.define("BFLOAT", type == DataType::bfloat16);
  program.define("QUERY_WARPS", v.query_warps);
  program.define("KEY_WARPS", v.key_warps);
  program.define("BK", v.keys);
  program.define("STAGES", v.stages);
  program.define("DEPTH", padded_depth(s.depth));
  program.define("WIDTH", padded_depth(s.width));
  program.define("OWN_DEPTH", s.depth);
  program.define("OWN_WIDTH", s.width);
  program.define("STORES_PAIRS", s.y.is_aligned(2));
  program.files = {"attention/args.h", "text/warp.cuh", "attention/masks.cuh", "attention/mma.cuh"};
}

void define_simt(const AttentionShape& s, const AttentionVariant& v, KernelProgram& program) {
  program.define("ROWS", v.rows);
  program.define("DEPTH", s.depth);
  program.define("WIDTH", s.width);
  program.files = {"attention/args.h", "attention/masks.cuh", "attention/simt.cuh"};
}

void add_launch(const Problem& problem, const AttentionShape& shape, const AttentionVariant& v,
                DataType type, KernelPlan& plan) {
  const gpu::AttentionArgs args = attention_args(shape, queries_of(v));
  KernelLaunch launch;
  launch.grid = {static_cast<unsigned>(shape.matrices() * args.tiles), 1, 1};
  launch.threads = threads_of_block(v);
  if (v.rows == 0) launch.shared_bytes = static_cast<unsigned>(mma_shared_bytes(shape, v));
  launch.arguments = argument_bytes(args);
  launch.slots = {operand_slot(problem, 0, type, offsetof(gpu::AttentionArgs, q), plan),
                  operand_slot(problem, 1, type, offsetof(gpu::AttentionArgs, k), plan),
                  operand_slot(problem, 2, type, offsetof(gpu::AttentionArgs, v), plan),
                  {offsetof(gpu::AttentionArgs, y), PointerSource::output, 0}};
  if (shape.addend.present)
    launch.slots.push_back(
        operand_slot(problem, 3, DataType::float32, offsetof(gpu::AttentionArgs, addend), plan));
  if (shape.choice.present)
    launch.slots.push_back(
        operand_slot(problem, 4, DataType::boolean, offsetof(gpu::AttentionArgs, choice), plan));
  plan.launches.push_back(std::move(launch));
}

Result<KernelPlan> plan_attention(const Problem& problem, const Tactic& tactic,
                                  const KernelContext& context) {
  TRY(const AttentionShape shape, attention_shape(problem));
  const AttentionVariant* variant = find_variant(kAttentionVariants, tactic);
  const DataType type = tactic.outputs[0].type;
  if (!variant || !serves(shape, *variant, type, context)) return no_variant(tactic);
  KernelPlan plan;
  define_types(plan.program, type, type);
  define_masks(shape, plan.program);
  if (variant->rows > 0)
    define_simt(shape, *variant, plan.program);
  else
    define_mma(shape, *variant, type, plan.program);
  add_launch(problem, shape, *variant, type, plan);
  return plan;
}

}  // namespace

const KernelFamily kAttentionFamily{"attention", offer_attention, plan_attention};

}  // namespace enginery
