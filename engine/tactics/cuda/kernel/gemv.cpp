// Family gemv: matrix products of few rows, the tail of classifiers
// (engine/kernels/cuda/src/gemv.cuh).
#include "engine/kernels/cuda/variants.h"
#include "engine/tactics/cuda/kernel/conv_shape.h"

namespace enginery {
namespace {

constexpr int64_t kMaxRows = 64;

std::string id_of(const GemvVariant& v) {
  return std::string("gemv/") + v.name;
}

// Products, and convolutions of one pixel, whose channels lie like a product's.
Result<ConvShape> gemv_shape(const Problem& problem) {
  TRY(ConvShape shape, conv_shape(problem));
  bool one_pixel = shape.pointwise() && shape.groups == 1 && shape.h == 1 && shape.w == 1;
  if (!shape.product && !one_pixel) return no_kernel("more than one pixel");
  if (shape.m() > kMaxRows) return no_kernel("more than 64 rows");
  return shape;
}

// [k][c pitch], padding zero.
PackConstant pack_rows(const ConvShape& shape, DataType type) {
  return [shape, type](Weights weights) {
    std::vector<float> kc = filter_krsc(shape, *weights[1]);
    int64_t pitch = shape.c_pitch();
    Tensor packed(DataType::float32, {shape.k * pitch});
    auto out = packed.mutable_data<float>();
    for (int64_t k = 0; k < shape.k; ++k) {
      for (int64_t c = 0; c < pitch; ++c) {
        out[static_cast<size_t>(k * pitch + c)] =
            c < shape.c ? kc[static_cast<size_t>(k * shape.c + c)] : 0.0f;
      }
    }
    return Bytes(as_text(convert(packed, type).byte_span()));
  };
}

}  // namespace

Status offer_gemv(const Problem& problem, const KernelContext& context, std::vector<Tactic>& out) {
  TRY(ConvShape shape, gemv_shape(problem));
  for (DataType type : context.storage_types()) {
    TRY(LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
    if (epilogue.code.zero_padding) return no_kernel("padded channels");
    for (const GemvVariant& variant : gemv_variants()) {
      if (variant.rows > 1 && variant.rows / 2 >= shape.m()) continue;
      Tactic tactic = make_conv_tactic(problem, shape, epilogue, id_of(variant));
      auto passes = static_cast<double>(divide_up(shape.m(), variant.rows));
      tactic.estimated_us = context.memory_us(passes * conv_bytes(shape, type)) + 1;
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

Result<KernelPlan> plan_gemv(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  TRY(ConvShape shape, gemv_shape(problem));
  const GemvVariant* variant = nullptr;
  for (const GemvVariant& v : gemv_variants()) {
    if (id_of(v) == tactic.id) variant = &v;
  }
  if (!variant) return no_variant(tactic);
  DataType type = tactic.inputs[0].type;
  TRY(LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
  KernelPlan plan;
  define_types(plan.program, type, type);
  plan.program.define("ROWS", variant->rows);
  plan.program.define("VECTORED", shape.c_pitch() % (16 / element_bytes(type)) == 0);
  plan.program.functions = epilogue_text(epilogue.code);
  plan.program.files = {"gemv.cuh"};
  gpu::GemvArgs args{};
  args.m = static_cast<int>(shape.m()), args.k = static_cast<int>(shape.k),
  args.c = static_cast<int>(shape.c_pitch());
  args.ldx = args.c, args.ldy = static_cast<int>(shape.k_pitch());
  KernelLaunch launch;
  launch.grid = {static_cast<unsigned>(divide_up(shape.k, 4)),
                 static_cast<unsigned>(divide_up(shape.m(), variant->rows)), 1};
  launch.threads = 128;
  launch.arguments = argument_bytes(args);
  launch.slots = {{offsetof(gpu::GemvArgs, x), PointerSource::input, 0},
                  {offsetof(gpu::GemvArgs, w), PointerSource::constant,
                   plan.add_constant(pack_rows(shape, type))},
                  {offsetof(gpu::GemvArgs, y), PointerSource::output, 0}};
  attach_epilogue(epilogue, offsetof(gpu::GemvArgs, epilogue), plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace enginery
