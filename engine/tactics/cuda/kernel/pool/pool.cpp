// Family pool: maxima and averages over windows or whole images (pool.cuh, global_pool.cuh); maxima
// of 8-bit integers, too (max_bytes.cuh).
#include "engine/tactics/cuda/kernel/conv_launch.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"
#include "engine/tactics/cuda/kernel/window_launch.h"

namespace enginery {
namespace {

struct PoolVariant {
  bool global;  // over whole images: global_pool.cuh
  int width;    // channels a thread
  // Of a block over whole images: its threads, those of them along channels; blocks that share the
  // pixels of an image.
  int threads = 256, lanes = 8, parts = 1;
};

constexpr PoolVariant kPoolVariants[] = {
    {false, 8},           {false, 16},           {true, 8},
    {true, 8, 256, 4},    {true, 8, 256, 2},     {true, 8, 512, 2},
    {true, 8, 256, 8, 4}, {true, 8, 256, 4, 16}, {true, 8, 256, 4, 64},
};

std::string id_of(const PoolVariant& v) {
  std::string id = v.global ? "pool/global" : "pool/window";
  if (v.width != 8) id += "_w" + std::to_string(v.width);
  if (v.threads != 256) id += "_t" + std::to_string(v.threads);
  if (v.lanes != 8) id += "_l" + std::to_string(v.lanes);
  return v.parts == 1 ? id : id + "_p" + std::to_string(v.parts);
}

// A pooling problem as a window over channels; kernel sizes in r and s.
struct PoolShape {
  ConvShape shape;
  PoolKind kind = PoolKind::max;
  bool count_padding = false, global = false;
};

Result<PoolShape> pool_shape(const Problem& problem) {
  CHECK_OK(require_static(problem));
  CHECK_OK(require_run_time_data(problem));
  const auto* pooling = std::get_if<Pooling>(&problem.op);
  const auto* global = std::get_if<GlobalPooling>(&problem.op);
  if ((!pooling && !global) || problem.outputs.size() != 1) return refusal("no pooling");
  const Dims &x = problem.inputs[0].type.dims, &y = problem.outputs[0].type.dims;
  if (x.size() < 3 || volume(y) == 0 || volume(x) == 0)
    return refusal("pooling over " + to_string(x));
  const DataType type = problem.inputs[0].type.type;
  const bool is_maximum = (global ? global->kind : pooling->kind) == PoolKind::max;
  if (!is_floating(type) && !(is_eight_bits(type) && is_maximum && problem.epilogue.empty()))
    return refusal("pooling of integers but for maxima of 8 bits");
  PoolShape out;
  ConvShape& s = out.shape;
  s.c_block = s.k_block = channel_block(type);
  s.c = x[1];
  s.k = x[1];
  if (global) {
    out.kind = global->kind;
    out.global = true;
    s.n = s.images = x[0];
    s.w = volume(x) / (x[0] * x[1]);
    return out;
  }
  out.kind = pooling->kind;
  out.count_padding = pooling->count_padding;
  CHECK_OK(set_window(s, x[0], window_sides(*pooling, x, y)));
  return out;
}

int64_t vectors_of(const PoolShape& pool, const PoolVariant& v) {
  return pool.shape.c_pitch() / v.width;
}

int64_t part_bytes(const PoolShape& pool, const PoolVariant& v) {
  return v.parts == 1 ? 0 : 4 * pool.shape.n * v.parts * pool.shape.c_pitch();
}

// 16 channels a thread are bytes, of small windows (max_bytes.cuh).
bool reads_bytes(const PoolVariant& v) {
  return v.width == 16;
}

// Those that run pool.cuh.
bool serves_pitches(const PoolVariant& v) {
  return !v.global && !reads_bytes(v);
}

// The first variant serves all; of the others those whose lanes and parts have work.
bool serves(const PoolShape& pool, const PoolVariant& v, DataType type) {
  constexpr int64_t kMostTaps = 16;  // held in registers at a time
  if (v.global != pool.global) return false;
  if (reads_bytes(v)) return is_eight_bits(type) && pool.shape.r * pool.shape.s <= kMostTaps;
  if (!v.global || (v.lanes == 8 && v.parts == 1)) return true;
  return v.lanes / 2 < vectors_of(pool, v) && v.parts <= pool.shape.h * pool.shape.w;
}

// A thread's turns wait for memory one after the other; bytes that become floats wait for that.
double estimate_us(const PoolShape& pool, const PoolVariant& v, DataType type,
                   const KernelContext& context) {
  constexpr double kTurnUs = 0.09, kAsFloats = 3;
  const int64_t lines = v.global ? int64_t{v.threads / v.lanes} * v.parts : 0;
  const double turns =
      v.global ? static_cast<double>(divide_up(pool.shape.h * pool.shape.w, lines)) : 0;
  const double blocks =
      static_cast<double>(divide_up(vectors_of(pool, v), v.lanes) * v.parts * pool.shape.n);
  const double waves = std::ceil(blocks / (8.0 * context.info.compute_units));
  const double memory = context.memory_us(window_bytes(pool.shape, type), v.parts == 1 ? 1 : 2);
  const bool as_floats = is_eight_bits(type) && !v.global && !reads_bytes(v);
  return (as_floats ? kAsFloats * memory : memory) + 1 + kTurnUs * turns * waves;
}

Status offer_pool(const Problem& problem, const KernelContext& context, std::vector<Tactic>& out) {
  TRY(const PoolShape pool, pool_shape(problem));
  if (problem.inputs[0].type.type == DataType::float64) return refusal("windows of float64");
  for (DataType type : kept_types(problem.inputs[0].type.type, context)) {
    TRY(const LoweredEpilogue epilogue, lower_window_epilogue(problem, pool.shape, type));
    for (const PoolVariant& variant : kPoolVariants) {
      if (!serves(pool, variant, type)) continue;
      Tactic tactic = make_conv_tactic(problem, pool.shape, epilogue, id_of(variant));
      tactic.writes_pitched = tactic.reads_pitched = serves_pitches(variant);
      tactic.workspace_bytes = part_bytes(pool, variant);
      tactic.estimated_us = estimate_us(pool, variant, type, context);
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

const char* text_of(const PoolVariant& v) {
  if (reads_bytes(v)) return "pool/max_bytes.cuh";
  return v.global ? "pool/global_pool.cuh" : "pool/pool.cuh";
}

// One thread a vector of channels and output; over whole images blocks of one image.
KernelLaunch pool_launch(const PoolShape& pool, const PoolVariant& v, int64_t x_pitch,
                         int64_t y_pitch) {
  gpu::WindowArgs args = window_args(pool.shape);
  args.x_pitch = x_pitch > 0 ? to_int(x_pitch) : args.c;
  args.y_pitch = y_pitch > 0 ? to_int(y_pitch) : args.c;
  const int vectors = args.c / v.width;
  args.by_vectors = make_divisor(vectors);
  args.by_strips = make_divisor(pool.shape.q);
  args.total = to_int(pool.shape.m() * vectors);
  KernelLaunch launch = launch_of(args, args.total, 128);
  if (v.global) {
    launch.grid = {static_cast<unsigned>(divide_up(vectors, v.lanes)),
                   static_cast<unsigned>(pool.shape.n), static_cast<unsigned>(v.parts)};
    launch.threads = static_cast<unsigned>(v.threads);
  }
  launch.slots = window_slots();
  return launch;
}

// The launch over parts of each image, of which `launch` becomes the one that joins them.
void add_parts(const PoolShape& pool, const PoolVariant& v, KernelPlan& plan,
               KernelLaunch& launch) {
  plan.workspace_bytes = part_bytes(pool, v);
  launch.slots.push_back({offsetof(gpu::WindowArgs, sums), PointerSource::workspace, 0});
  plan.launches.push_back(launch);
  launch.entry = "join_parts";
  launch.grid[2] = 1;
}

Result<KernelPlan> plan_pool(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  TRY(const PoolShape pool, pool_shape(problem));
  const PoolVariant* variant = find_variant(kPoolVariants, tactic);
  const DataType type = tactic.inputs[0].type;
  if (!variant || !serves(pool, *variant, type)) return no_variant(tactic);
  const int64_t x_pitch = tactic.inputs[0].layout.pitch, y_pitch = tactic.outputs[0].layout.pitch;
  if ((x_pitch > 0 || y_pitch > 0) && !serves_pitches(*variant)) return no_variant(tactic);
  TRY(const LoweredEpilogue epilogue, lower_window_epilogue(problem, pool.shape, type));
  KernelPlan plan;
  define_types(plan.program, type, type);
  plan.program.define("WIDTH", variant->width);
  plan.program.define("MAXIMUM", pool.kind == PoolKind::max);
  plan.program.define("COUNT_PADDING", pool.count_padding);
  plan.program.define("THREADS", variant->threads);
  plan.program.define("LANES", variant->lanes);
  plan.program.define("PARTS", variant->parts);
  if (reads_bytes(*variant)) plan.program.define("R", pool.shape.r);
  if (reads_bytes(*variant)) plan.program.define("S", pool.shape.s);
  plan.program.functions = epilogue_text(epilogue.code);
  if (is_eight_bits(type)) plan.program.files.push_back("text/bytes.cuh");
  plan.program.files.push_back(text_of(*variant));
  KernelLaunch launch = pool_launch(pool, *variant, x_pitch, y_pitch);
  attach_epilogue(epilogue, offsetof(gpu::WindowArgs, epilogue), plan, launch);
  if (variant->parts > 1) add_parts(pool, *variant, plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kPoolFamily{"pool", offer_pool, plan_pool, true};

}  // namespace enginery
