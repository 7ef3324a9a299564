#include "engine/tactics/cuda/kernel/conv_mma/mma_case.h"

#include <algorithm>

#include "engine/tactics/cuda/kernel/conv_mma/args.h"
#include "engine/tactics/cuda/kernel/conv_mma/wgmma_text.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"

namespace enginery {
namespace {

// Channels that a thread of the second launch of split-K adds up.
constexpr int64_t kMmaSumVector = 8;

// The shapes that a convolution may be computed as: as it is; and, with up to 4 channels (of a
// picture), padded to 4 of them instead of to 16 bytes, so that what is copied are whole pixels.
std::vector<ConvShape> mma_shapes(const ConvShape& shape, DataType type) {
  constexpr int64_t kFewChannels = 4, kCopied = 16;  // bytes
  std::vector<ConvShape> out{shape};
  const int64_t pixels = kCopied / (kFewChannels * element_bytes(type));
  if (shape.gemm || shape.c > kFewChannels || pixels < 2 || shape.s == 1 || shape.r > 16)
    return out;
  out.push_back(shape);
  out.back().c_block = kFewChannels;
  out.back().s_block = pixels;
  // A column of zeros before the first one, where there is room: windows begin at even pixels.
  ConvShape shifted = out.back();
  shifted.s_front = shape.pad_w % 2;
  if (shifted.s_pitch() == out.back().s_pitch()) out.back() = shifted;
  return out;
}

// Whether windows begin two columns apart and their rows are whole fragments of K.
bool serves_as_patch(const MmaCase& c) {
  const ConvShape& s = c.shape;
  return c.columns_at_once() == 2 && s.stride_w == 2 && s.dilation_h == 1 && s.c_pitch() == 4 &&
         element_bytes(c.type) <= 2 && c.window_bytes() % 32 == 0 && s.flat(c.bk());
}

// Whether sums of products of 8 bits stay below 2^22 and are a block's own.
bool has_small_sums(const MmaCase& c) {
  constexpr int64_t kBound = int64_t{1} << 22, kWeight = 128;
  if (!is_eight_bits(c.type) || c.parts() > 1) return false;
  const int64_t product = kWeight * (c.type == DataType::uint8 ? 255 : 128);
  const auto small = [&](const ConvShape& s) { return s.r * s.s * s.c * product < kBound; };
  return small(c.shape) && (!c.first || small(*c.first));
}

// Whether what the epilogue gives are sums of integers, scaled, to which a relu at most is done.
bool rounds_sums(const MmaCase& c, const FusedEpilogue& epilogue) {
  const auto keeps = [&](const FusedStep& step) {
    if (step.kind == FusedStepKind::activation) return step.activation.kind == ActivationKind::relu;
    return step.access != OperandAccess::same || is_eight_bits(epilogue.output);
  };
  return is_eight_bits(c.type) && std::ranges::all_of(epilogue.steps, keeps);
}

// The shape is part of a patch's text: its loops are short.
void define_patch(KernelProgram& program, const MmaCase& c) {
  program.define("PATCH_ROWS", c.variant.patch_rows);
  program.define("PATCH_SHARED", c.shared_bytes());
  program.define("FILTER_R", c.shape.r);
  program.define("S_PITCH", c.shape.s_pitch());
  program.define("STRIDE_H", c.shape.stride_h);
  program.define("OUT_P", c.shape.p);
  program.define("OUT_Q", c.shape.q);
}

}  // namespace

int64_t MmaCase::bk() const {
  return variant.row_bytes / element_bytes(type);
}

int64_t MmaCase::columns_at_once() const {
  const bool even = (shape.pad_w + shape.s_front) % 2 == 0 && shape.stride_w % 2 == 0 &&
                    shape.w % 2 == 0 && shape.dilation_w == 1;
  return columns() > 1 && even ? 2 : 1;
}

bool MmaCase::reads_pitched() const {
  return !shape.gemm && !first && !variant.patch_rows && columns() == 1;
}

int64_t MmaCase::tiles_m() const {
  if (variant.patch_rows)
    return shape.n * divide_up(shape.p, variant.patch_rows) * divide_up(shape.q, variant.bm);
  return divide_up(shape.m(), variant.bm);
}

int64_t MmaCase::patch_bytes() const {
  const int64_t rows = (variant.patch_rows - 1) * shape.stride_h + shape.r;
  const int64_t pitch = round_up((variant.bm + shape.s_pitch() / 2 - 1) * pair_bytes(), 16);
  return (round_up(rows * pitch, 128) + 64) * (pair_bytes() == 8 ? 2 : 1);
}

int64_t MmaCase::shared_bytes() const {
  if (!variant.patch_rows) return shared_bytes_of(variant, divide_up(steps(), parts()));
  const int64_t filter = shape.r * window_bytes();
  return patch_bytes() + variant.bn * (filter + (filter / 16 % 2 == 0 ? 16 : 32));
}

int64_t MmaCase::tiles_k() const {
  return divide_up(shape.k_pitch(), variant.bn);
}

int64_t MmaCase::steps() const {
  return filter_steps(shape, bk()) + (first ? filter_steps(*first, bk()) : 0);
}

int64_t MmaCase::workspace_bytes() const {
  return partial_sum_bytes(shape, variant.split_k, variant.bn);
}

Status require_mma(const ConvShape& shape, DataType type, const KernelContext& context) {
  if (context.info.compute_capability < 75) return refusal("no mma.sync below 7.5");
  if (shape.groups != 1) return refusal("groups");
  if (shape.r > 32 || shape.s > 32) return refusal("a filter larger than 32");
  const int64_t block = channel_block(type);
  if (shape.c_pitch() % block || shape.k_pitch() % 8)
    return refusal("a matrix product whose sizes are no multiples of " + std::to_string(block));
  return {};
}

bool serves(const MmaCase& c, const KernelContext& context) {
  const MmaVariant& v = c.variant;
  if (v.patch_rows && !serves_as_patch(c)) return false;
  // Newer SMs have the asynchronous copies that variants of two stages do without.
  if (context.info.compute_capability < v.min_sm) return false;
  if (v.wgmma && (context.info.compute_capability != 90 || c.type == DataType::float32))
    return false;
  if (context.info.compute_capability >= 80 && v.min_sm < 80) return false;
  if (c.shared_bytes() > context.limits.shared_kib_per_block * 1024) return false;
  if (c.parts() > 1 && c.steps() < 2 * c.parts()) return false;
  return c.tiles_m() * c.tiles_k() < (int64_t{1} << 31);
}

std::vector<MmaCase> mma_cases(const ConvShape& shape, DataType type,
                               const KernelContext& context) {
  std::vector<MmaCase> out;
  for (const ConvShape& padded : mma_shapes(shape, type)) {
    for (const MmaVariant& variant : mma_variants()) {
      const MmaCase c{padded, variant, type};
      if (serves(c, context)) out.push_back(c);
    }
  }
  return out;
}

std::vector<MmaCase> joined_cases(const ConvShape& first, const ConvShape& second, DataType type,
                                  const KernelContext& context) {
  std::vector<MmaCase> out;
  const bool alike = first.n == second.n && first.p == second.p && first.q == second.q &&
                     first.k == second.k && context.info.compute_capability >= 80;
  for (const MmaVariant& variant : mma_variants()) {
    const MmaCase c{second, variant, type, first};
    const bool whole = first.c_pitch() % c.bk() == 0 && second.c_pitch() % c.bk() == 0;
    if (alike && whole && !variant.patch_rows && variant.parts() == 1 && serves(c, context))
      out.push_back(c);
  }
  return out;
}

std::vector<DataType> mma_types(const KernelContext& context) {
  std::vector<DataType> types;
  if (context.allows(Precision::fp16)) types.push_back(DataType::float16);
  if (context.info.compute_capability < 80) return types;
  if (context.allows(Precision::bf16)) types.push_back(DataType::bfloat16);
  if (context.allows(Precision::tf32)) types.push_back(DataType::float32);
  return types;
}

Precision compute_of(DataType type) {
  return type == DataType::float32 ? Precision::tf32 : precision_of_storage(type);
}

std::string id_of(const MmaCase& c) {
  return "conv_mma/" + std::string(arithmetic_of(c.type)) + name_of(c.variant) +
         (c.columns() > 1 ? "_n4" : "");
}

Result<MmaCase> find_case(const ConvShape& shape, DataType type, const Tactic& tactic,
                          const KernelContext& context) {
  CHECK_OK(require_mma(shape, type, context));
  for (const MmaCase& c : mma_cases(shape, type, context)) {
    if (id_of(c) == tactic.id) return c;
  }
  return no_variant(tactic);
}

Result<MmaCase> find_joined(const ConvShape& first, const ConvShape& second, DataType type,
                            const Tactic& tactic, const KernelContext& context) {
  for (const MmaCase& c : joined_cases(first, second, type, context)) {
    if (id_of(c) == tactic.id) return c;
  }
  return no_variant(tactic);
}

KernelProgram mma_program(const MmaCase& c, DataType result, const FusedEpilogue& epilogue) {
  const MmaVariant& v = c.variant;
  const bool bytes = is_eight_bits(c.type);
  KernelProgram program;
  define_types(program, c.type, result);
  program.define("TSUM", bytes ? "int" : "float");
  program.define("BM", v.bm);
  program.define("BN", v.bn);
  program.define("BKB", v.row_bytes);
  program.define("BK", c.bk());
  program.define("STAGES", v.stages);
  program.define("WM", v.wm);
  program.define("WN", v.wn);
  program.define("VECTOR", std::min(v.wn / 4, 8));
  program.define("CLUSTER", v.cluster);
  program.define("SPLIT_K", v.split_k > 1);
  program.define("WGMMA", v.wgmma);
  if (v.patch_rows) define_patch(program, c);
  program.define("SUM_VECTOR", kMmaSumVector);
  program.define("POINTWISE", c.shape.pointwise());
  program.define("FLAT", c.shape.flat(c.bk()));
  program.define("JOINED", c.first.has_value());
  program.define("FIRST_POINTWISE", c.first && c.first->pointwise());
  program.define("KEEPS_SUMS", c.first && bytes);
  program.define("SMALL_SUMS", has_small_sums(c));
  program.define("ROUNDS_SUMS", rounds_sums(c, epilogue));
  program.define("COLUMNS", c.columns());
  program.define("COLUMNS_AT_ONCE", c.columns_at_once());
  if (bytes) program.types.push_back("text/bytes.cuh");
  program.types.push_back("text/warp.cuh");
  program.functions = epilogue_text(epilogue) + early_epilogue_text(epilogue);
  if (c.first && bytes) program.functions += kept_row_text(epilogue);
  if (v.wgmma) program.functions += wgmma_text(c.type, v.bn, v.row_bytes);
  if (c.first) program.types.push_back("conv_mma/args.h");
  program.files = {"text/conv_index.cuh", "text/columns.cuh", "conv_mma/tile.cuh",
                   "conv_mma/tile_epilogue.cuh"};
  program.files.push_back(v.wgmma        ? "conv_mma/conv_wgmma.cuh"
                          : v.patch_rows ? "conv_mma/conv_patch.cuh"
                                         : "conv_mma/conv_mma.cuh");
  program.files.push_back("text/split_k.cuh");
  return program;
}

Result<KernelLaunch> mma_launch(const MmaCase& c, const Tactic& tactic, PackConstant weights,
                                KernelPlan& plan) {
  const MmaVariant& v = c.variant;
  gpu::ConvArgs args = conv_args(c.shape);
  if (has_pitch(tactic.inputs[0]) && !c.reads_pitched()) return no_variant(tactic);
  CHECK_OK(keep_to_pitches(c.shape, tactic, plan.program, args));
  args.steps = to_int(filter_steps(c.shape, c.bk()));
  args.split_k = to_int(c.parts());
  args.tiles_k = to_int(c.tiles_k());
  args.by_tiles_k = make_divisor(c.tiles_k());
  args.w_pitch = to_int(c.steps() * c.bk());
  KernelLaunch launch;
  launch.grid = {static_cast<unsigned>(c.tiles_m() * c.tiles_k()), 1,
                 static_cast<unsigned>(c.parts())};
  launch.threads = static_cast<unsigned>(threads_of(v));
  launch.shared_bytes = static_cast<unsigned>(c.shared_bytes());
  launch.slots = conv_slots(plan.add_constant(std::move(weights)));
  if (!c.first) {
    launch.arguments = argument_bytes(args);
    return launch;
  }
  gpu::JoinedConvArgs both{conv_args(*c.first), args};
  both.first.steps = to_int(c.steps()) - args.steps;
  launch.arguments = argument_bytes(both);
  for (PointerSlot& slot : launch.slots) slot.offset += offsetof(gpu::JoinedConvArgs, second);
  return launch;
}

void add_mma_launch(const MmaCase& c, KernelLaunch launch, KernelPlan& plan) {
  if (c.variant.split_k > 1) add_split_k(c.shape, c.workspace_bytes(), kMmaSumVector, plan, launch);
  plan.launches.push_back(std::move(launch));
}

}  // namespace enginery
