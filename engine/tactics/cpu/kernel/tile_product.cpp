// Family tile_product: matrix products of many rows with constant weights, multiplied in bfloat16
// in tiles, with any epilogue.
#include "engine/tactics/cpu/kernel/tile_panels.h"
#include "engine/tactics/shapes/fully_connected.h"

namespace enginery {
namespace {

Result<TileChain> product_chain(const Problem& p, const FullyConnected& fc) {
  TileChain chain;
  if (fc.addend >= 0) chain.append(PointwiseFunction::add, {fc.addend, true, 0, 1, false});
  const auto place = [&](const EpilogueStep& step) -> Result<TileOperand> {
    const Dims& own = p.inputs[static_cast<size_t>(step.operand)].type.dims;
    const Dims dims = step.kind == EpilogueKind::bias ? Dims{1, volume(own)} : aligned(own, 2);
    return TileOperand{step.operand, false, dims[0] == 1 ? 0 : dims[1], dims[1] == 1 ? 0 : 1,
                       false};
  };
  CHECK_OK(append_epilogue(p, place, chain));
  return chain;
}

PreparedTiles prepare_product(const FullyConnected& fc, const TileChain& chain, bool narrow,
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

}  // namespace

CpuKernelCandidates offer_cpu_tile_product(const CpuKernelContext& context, const Problem& p) {
  if (!context.tiles)
    return no_cpu_kernel("a matrix product of many rows without instructions for bfloat16");
  const auto of_rows = of_all_rows(p);
  const Problem& product = of_rows ? *of_rows : p;
  const auto fc = read_fully_connected(product);
  if (!fc || fc->k % kTileStep != 0)
    return no_cpu_kernel(
        "a matrix product other than with constant weights and a depth that is a "
        "multiple of " +
        std::to_string(kTileStep));
  TRY(const TileChain chain, product_chain(product, *fc));
  std::vector<CpuKernelCandidate> out;
  for (const DataType result : {DataType::bfloat16, DataType::float32}) {
    Tactic tactic = cpu_kernel_tactic(p, "tile_product");
    tactic.compute = Precision::bf16;
    tactic.inputs[0].type = DataType::bfloat16;
    tactic.outputs[0].type = result;
    tactic.estimated_us = movement_and_arithmetic_us(context, p, tile_flops_per_us(context));
    auto prepare = [kernel = context.tiles->tile_product, fc = *fc, chain,
                    narrow = result == DataType::bfloat16](Weights weights) -> CpuKernelRun {
      return [kernel, all = prepare_product(fc, chain, narrow, weights)](
                 const Arguments& arguments) { kernel(all.at(arguments)); };
    };
    out.push_back({std::move(tactic), prepare});
  }
  return out;
}

}  // namespace enginery
