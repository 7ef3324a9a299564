// Family gemv: matrix products of few rows, the tail of classifiers (gemv.cuh).
#include "engine/tactics/cuda/kernel/conv_launch.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/gemv/args.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"

namespace enginery {
namespace {

struct GemvVariant {
  int rows;  // of x that one pass over the weights serves
};

constexpr GemvVariant kGemvVariants[] = {{1}, {4}, {8}};

std::string id_of(const GemvVariant& v) {
  return "gemv/rows" + std::to_string(v.rows);
}

constexpr int64_t kMaxGemvRows = 64;

// Products, and convolutions of one pixel, whose channels lie like a product's.
Result<ConvShape> gemv_shape(const Problem& problem) {
  TRY(ConvShape shape, conv_shape(problem));
  bool one_pixel = shape.pointwise() && shape.groups == 1 && shape.h == 1 && shape.w == 1;
  if (!shape.gemm && !one_pixel) return refusal("more than one pixel");
  if (shape.m() > kMaxGemvRows) return refusal("more than 64 rows");
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

Status offer_gemv(const Problem& problem, const KernelContext& context, std::vector<Tactic>& out) {
  TRY(const ConvShape shape, gemv_shape(problem));
  for (DataType type : context.storage_types()) {
    TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
    if (epilogue.code.zero_padding) return refusal("padded channels");
    for (const GemvVariant& variant : kGemvVariants) {
      if (variant.rows > 1 && variant.rows / 2 >= shape.m()) continue;
      Tactic tactic = make_conv_tactic(problem, shape, epilogue, id_of(variant));
      const auto passes = static_cast<double>(divide_up(shape.m(), variant.rows));
      tactic.estimated_us = context.memory_us(passes * conv_bytes(shape, type)) + 1;
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

Result<KernelPlan> plan_gemv(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  constexpr int64_t kWarps = 4;  // of a block, an output channel each
  TRY(const ConvShape shape, gemv_shape(problem));
  const GemvVariant* variant = find_variant(kGemvVariants, tactic);
  if (!variant) return no_variant(tactic);
  const DataType type = tactic.inputs[0].type;
  TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
  KernelPlan plan;
  define_types(plan.program, type, type);
  plan.program.define("ROWS", variant->rows);
  plan.program.define("VECTORED", shape.c_pitch() % (16 / element_bytes(type)) == 0);
  plan.program.functions = epilogue_text(epilogue.code);
  plan.program.files = {"gemv/args.h", "gemv/gemv.cuh"};
  gpu::GemvArgs args{};
  args.m = to_int(shape.m());
  args.k = to_int(shape.k);
  args.c = to_int(shape.c_pitch());
  args.ldx = args.c;
  args.ldy = to_int(shape.k_pitch());
  KernelLaunch launch;
  launch.grid = {static_cast<unsigned>(divide_up(shape.k, kWarps)),
                 static_cast<unsigned>(divide_up(shape.m(), variant->rows)), 1};
  launch.threads = 32 * kWarps;
  launch.arguments = argument_bytes(args);
  launch.slots = {{offsetof(gpu::GemvArgs, x), PointerSource::input, 0},
                  {offsetof(gpu::GemvArgs, w), PointerSource::constant,
                   plan.add_constant(pack_rows(shape, type))},
                  {offsetof(gpu::GemvArgs, y), PointerSource::output, 0}};
  attach_epilogue(epilogue, offsetof(gpu::GemvArgs, epilogue), plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kGemvFamily{"gemv", offer_gemv, plan_gemv};

}  // namespace enginery
