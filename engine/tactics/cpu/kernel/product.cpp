// Family product: matrix products of many rows with constant weights and any epilogue, in float32
// as convolutions of pixels (conv_product.cpp), and multiplied in bfloat16 in tiles.
#include <algorithm>
#include <limits>

#include "engine/tactics/cpu/kernel/convolution.h"
#include "engine/tactics/cpu/kernel/tile_panels.h"
#include "engine/tactics/shapes/fully_connected.h"

namespace enginery {
namespace {

Result<ProductChain> product_chain(const Problem& p, const FullyConnected& fc) {
  ProductChain chain;
  if (fc.addend >= 0) chain.append(PointwiseFunction::add, {fc.addend, true, 0, 1, false});
  const auto place = [&](const EpilogueStep& step) -> Result<ProductOperand> {
    const Dims& own = p.inputs[static_cast<size_t>(step.operand)].type.dims;
    const Dims dims = step.kind == EpilogueKind::bias ? Dims{1, volume(own)} : aligned(own, 2);
    return ProductOperand{step.operand, false, dims[0] == 1 ? 0 : dims[1], dims[1] == 1 ? 0 : 1,
                          false};
  };
  CHECK_OK(append_epilogue(p, place, chain));
  return chain;
}

// What the kernel in float32 does of a chain while a tile is in registers, and the steps behind it.
struct InRegisters {
  int bias = -1, residual = -1;  // operands of the chain
  float low = -std::numeric_limits<float>::infinity(),
        high = std::numeric_limits<float>::infinity();
  std::vector<PointwiseStep> steps;
};

// [bias] and, where nothing follows, [residual of y's places] [clip].
InRegisters split(const Problem& p, const FullyConnected& fc, const ProductChain& chain) {
  InRegisters out;
  auto next = chain.steps.begin();
  const auto adds = [&](int64_t row, bool constant) {
    if (next == chain.steps.end() || next->function != PointwiseFunction::add) return false;
    const ProductOperand& o = chain.operands[static_cast<size_t>(next->operand)];
    return o.row == row && o.column == 1 &&
           p.inputs[static_cast<size_t>(o.input)].constant == constant;
  };
  if (adds(0, true)) out.bias = (next++)->operand;
  InRegisters whole = out;
  const auto behind_bias = next;
  if (adds(fc.n, false)) whole.residual = (next++)->operand;
  if (next != chain.steps.end() && next->function == PointwiseFunction::relu) {
    whole.low = 0;
    ++next;
  } else if (next != chain.steps.end() && next->function == PointwiseFunction::clip) {
    whole.low = next->alpha;
    whole.high = (next++)->beta;
  }
  if (next == chain.steps.end()) return whole;
  out.steps.assign(behind_bias, chain.steps.end());
  return out;
}

ConvProductArguments rows_as_pixels(const FullyConnected& fc, int64_t width,
                                    const InRegisters& first) {
  ConvProductArguments a{};
  a.groups = 1;
  a.pixels = a.in_row_pixels = fc.m;
  a.depth = a.in_pixel = fc.k;
  a.channels_out = a.out_pixel = fc.n;
  a.in_chunk = a.out_vector = width;
  a.packs = true;
  a.low = first.low;
  a.high = first.high;
  a.steps = static_cast<int>(first.steps.size());
  std::ranges::copy(first.steps, a.step);
  set_block(width, a);
  return a;
}

// A product in float32 with its constants.
struct PreparedRows {
  ConvProductArguments arguments;  // all but the addresses
  Tensor panels, bias;
  ChainOperands operands;
  int residual;  // of the operands, or -1

  void run(const CpuKernels& kernels, const Arguments& launch) const {
    ConvProductArguments a = arguments;
    a.in = static_cast<const float*>(launch.inputs[0]);
    a.weights = panels.data<float>().data();
    a.bias = bias.data<float>().data();
    a.out = static_cast<float*>(launch.outputs[0]);
    a.scratch = static_cast<float*>(launch.workspace);
    operands.write(launch, a.operand);
    if (residual >= 0) a.residual = static_cast<const float*>(a.operand[residual].at);
    kernels.conv_product(a);
  }
};

PreparedRows prepare_rows(const FullyConnected& fc, const ProductChain& chain,
                          const InRegisters& first, int64_t width, Weights weights) {
  const Tensor addend = fc.addend >= 0 ? addend_of(fc, weights) : Tensor();
  const Tensor* bias = nullptr;
  if (first.bias >= 0) {
    const ProductOperand& o = chain.operands[static_cast<size_t>(first.bias)];
    bias = o.is_addend ? &addend : weights[static_cast<size_t>(o.input)];
  }
  return {rows_as_pixels(fc, width, first), pack_panels(weights_by_output(fc, weights), width),
          pad_bias(bias, fc.n, width), ChainOperands(chain, addend, weights), first.residual};
}

CpuKernelCandidate rows_candidate(const CpuKernelContext& context, const Problem& p,
                                  const Problem& product, const FullyConnected& fc,
                                  const ProductChain& chain) {
  const int64_t width = context.kernels.width;
  const InRegisters first = split(product, fc, chain);
  Tactic tactic = cpu_kernel_tactic(p, "row_product");
  tactic.workspace_bytes = rows_as_pixels(fc, width, first).scratch_floats * context.threads *
                           static_cast<int64_t>(sizeof(float));
  tactic.estimated_us = product_us(context, flop_count(p), least_bytes(p));
  if (first.residual >= 0)
    tactic.in_place_operand = chain.operands[static_cast<size_t>(first.residual)].input;
  auto prepare = [kernels = &context.kernels, fc, chain, first,
                  width](Weights weights) -> CpuKernelRun {
    return [kernels, all = prepare_rows(fc, chain, first, width, weights)](
               const Arguments& arguments) { all.run(*kernels, arguments); };
  };
  return {std::move(tactic), prepare};
}

PreparedTiles prepare_product(const FullyConnected& fc, const ProductChain& chain, bool narrow,
                              Weights weights) {
  const Tensor rounded = convert(weights_of(fc, weights), DataType::bfloat16);
  const auto* from = static_cast<const uint16_t*>(rounded.raw());
  TileProductArguments a{};
  a.m = fc.m;
  a.n = a.y_pitch = fc.n;
  a.k = a.x_pitch = fc.k;
  a.pieces = 1;
  a.narrow = narrow;
  Tensor panels = pack_tile_panels(fc.n, fc.k, [&](int64_t column, int64_t k) {
    return from[fc.weights_are_nk ? column * fc.k + k : k * fc.n + column];
  });
  return prepare_tiles(a, chain, std::move(panels),
                       fc.addend >= 0 ? addend_of(fc, weights) : Tensor(), weights);
}

CpuKernelCandidate tiles_candidate(const CpuKernelContext& context, const Problem& p,
                                   const FullyConnected& fc, const ProductChain& chain,
                                   DataType result) {
  Tactic tactic = cpu_kernel_tactic(p, "tile_product");
  tactic.compute = Precision::bf16;
  tactic.inputs[0].type = DataType::bfloat16;
  tactic.outputs[0].type = result;
  tactic.estimated_us = movement_and_arithmetic_us(context, p, tile_flops_per_us(context));
  auto prepare = [kernel = context.tiles->tile_product, fc, chain,
                  narrow = result == DataType::bfloat16](Weights weights) -> CpuKernelRun {
    return [kernel, all = prepare_product(fc, chain, narrow, weights)](const Arguments& arguments) {
      kernel(all.at(arguments));
    };
  };
  return {std::move(tactic), prepare};
}

}  // namespace

CpuKernelCandidates offer_cpu_product(const CpuKernelContext& context, const Problem& p) {
  const auto of_rows = of_all_rows(p);
  const Problem& product = of_rows ? *of_rows : p;
  const auto fc = read_fully_connected(product);
  if (!fc) return no_cpu_kernel("a matrix product with run-time weights");
  TRY(const ProductChain chain, product_chain(product, *fc));
  std::vector<CpuKernelCandidate> out{rows_candidate(context, p, product, *fc, chain)};
  if (!context.tiles || fc->k % kTileStep != 0) return out;
  for (const DataType result : {DataType::bfloat16, DataType::float32})
    out.push_back(tiles_candidate(context, p, *fc, chain, result));
  return out;
}

}  // namespace enginery
