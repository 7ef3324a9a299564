// Family pool: maxima and averages over windows or whole images (pool.cuh, global_pool.cuh); maxima
// of 8-bit integers, too.
#include "engine/tactics/cuda/kernel/conv_launch.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"
#include "engine/tactics/cuda/kernel/window_launch.h"

namespace enginery {
namespace {

struct PoolVariant {
  bool global;  // over whole images: global_pool.cuh
  int width;    // channels a thread
};

constexpr PoolVariant kPoolVariants[] = {{false, 8}, {true, 8}};

std::string id_of(const PoolVariant& v) {
  const std::string id = v.global ? "pool/global" : "pool/window";
  return v.width == 8 ? id : id + "_w" + std::to_string(v.width);
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
  if (x.size() < 3 || x.size() > 4 || volume(y) == 0 || volume(x) == 0)
    return refusal("pooling over " + to_string(x));
  const DataType type = problem.inputs[0].type.type;
  const bool is_maximum = (global ? global->kind : pooling->kind) == PoolKind::max;
  if (!is_floating(type) && !(is_eight_bits(type) && is_maximum && problem.epilogue.empty()))
    return refusal("pooling of integers but for maxima of 8 bits");
  PoolShape out;
  ConvShape& s = out.shape;
  s.c_block = s.k_block = channel_block(type);
  s.n = x[0];
  s.c = x[1];
  s.k = x[1];
  s.w = x.back();
  s.q = y.back();
  if (x.size() == 4) {
    s.h = x[2];
    s.p = y[2];
  }
  if (global) {
    out.kind = global->kind;
    out.global = true;
    return out;
  }
  out.kind = pooling->kind;
  out.count_padding = pooling->count_padding;
  s.s = pooling->kernel.back();
  s.stride_w = pooling->strides.back();
  s.dilation_w = pooling->dilations.back();
  s.pad_w = pooling->pads_begin.back();
  s.pad_w_end = pooling->pads_end.back();
  if (x.size() == 4) {
    s.r = pooling->kernel[0];
    s.stride_h = pooling->strides[0];
    s.dilation_h = pooling->dilations[0];
    s.pad_h = pooling->pads_begin[0];
    s.pad_h_end = pooling->pads_end[0];
  }
  return out;
}

Status offer_pool(const Problem& problem, const KernelContext& context, std::vector<Tactic>& out) {
  TRY(const PoolShape pool, pool_shape(problem));
  for (DataType type : kept_types(problem.inputs[0].type.type, context)) {
    TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(problem, pool.shape, type));
    for (const PoolVariant& variant : kPoolVariants) {
      if (variant.global != pool.global) continue;
      Tactic tactic = make_conv_tactic(problem, pool.shape, epilogue, id_of(variant));
      tactic.estimated_us = context.memory_us(window_bytes(pool.shape, type)) + 1;
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

// One thread a vector of channels and output; over whole images a block for 8 vectors of one image.
KernelLaunch pool_launch(const PoolShape& pool, const PoolVariant& v) {
  constexpr int64_t kGlobalVectors = 8;
  gpu::WindowArgs args = window_args(pool.shape);
  const int vectors = args.c / v.width;
  args.by_vectors = make_divisor(vectors);
  args.by_strips = make_divisor(pool.shape.q);
  args.total = to_int(pool.shape.m() * vectors);
  KernelLaunch launch = launch_of(args, args.total, 128);
  if (v.global) {
    launch.grid = {static_cast<unsigned>(divide_up(vectors, kGlobalVectors)),
                   static_cast<unsigned>(pool.shape.n), 1};
    launch.threads = 256;
  }
  launch.slots = window_slots();
  return launch;
}

Result<KernelPlan> plan_pool(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  TRY(const PoolShape pool, pool_shape(problem));
  const PoolVariant* variant = find_variant(kPoolVariants, tactic);
  if (!variant || variant->global != pool.global) return no_variant(tactic);
  const DataType type = tactic.inputs[0].type;
  TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(problem, pool.shape, type));
  KernelPlan plan;
  define_types(plan.program, type, type);
  plan.program.define("WIDTH", variant->width);
  plan.program.define("MAXIMUM", pool.kind == PoolKind::max);
  plan.program.define("COUNT_PADDING", pool.count_padding);
  plan.program.functions = epilogue_text(epilogue.code);
  if (is_eight_bits(type)) plan.program.files.push_back("text/bytes.cuh");
  plan.program.files.push_back(pool.global ? "pool/global_pool.cuh" : "pool/pool.cuh");
  KernelLaunch launch = pool_launch(pool, *variant);
  attach_epilogue(epilogue, offsetof(gpu::WindowArgs, epilogue), plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kPoolFamily{"pool", offer_pool, plan_pool};

}  // namespace enginery
