// Family tile_product: matrix products of many rows with constant weights, multiplied in bfloat16
// in tiles, with any epilogue.
#include "engine/kernels/cpu/tiles/product.h"

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"
#include "engine/tactics/shapes/fully_connected.h"

namespace enginery {
namespace {

constexpr int64_t kTileRows = 16, kStep = 32;

// The weights as panels of tiles (TileProductArguments).
Tensor packed_weights(const FullyConnected& fc, Weights weights) {
  const int64_t panels = (fc.n + kPanelColumns - 1) / kPanelColumns;
  const Tensor narrow = convert(weights_of(fc, weights), DataType::bfloat16);
  const auto* from = static_cast<const uint16_t*>(narrow.raw());
  Tensor out(DataType::bfloat16, {panels * kPanelColumns * fc.k});
  auto* to = static_cast<uint16_t*>(out.mutable_bytes());
  for (int64_t column = 0; column < panels * kPanelColumns; ++column) {
    const int64_t tile = column / kTileRows % 2, place = column % kTileRows;
    uint16_t* panel = to + column / kPanelColumns * kPanelColumns * fc.k;
    for (int64_t k = 0; k < fc.k; ++k) {
      const int64_t at = ((k / kStep * 2 + tile) * kTileRows + k % kStep / 2) * kStep + 2 * place;
      uint16_t value = 0;
      if (column < fc.n) value = from[fc.weights_are_nk ? column * fc.k + k : k * fc.n + column];
      panel[at + k % 2] = value;
    }
  }
  return out;
}

// Where an operand of the epilogue comes from.
struct ProductOperand {
  int input;
  bool is_addend;  // of the product itself: scaled, one value a column
  int64_t row, column;
};

// The epilogue as steps of the kernel.
struct ProductChain {
  std::vector<PointwiseStep> steps;
  std::vector<ProductOperand> operands;
};

Result<ProductChain> product_chain(const Problem& p, const FullyConnected& fc) {
  ProductChain chain;
  const auto append = [&](PointwiseFunction function, const ProductOperand& operand) {
    chain.steps.push_back({function, static_cast<int>(chain.operands.size()), 0, 0});
    chain.operands.push_back(operand);
  };
  if (fc.addend >= 0) append(PointwiseFunction::add, {fc.addend, true, 0, 1});
  for (const EpilogueStep& step : p.epilogue) {
    if (step.kind == EpilogueKind::activation) {
      // Both enums begin with the one list of activations.
      chain.steps.push_back({static_cast<PointwiseFunction>(static_cast<int>(step.activation.kind)),
                             -1, step.activation.alpha, step.activation.beta});
      continue;
    }
    const TensorType& type = p.inputs[static_cast<size_t>(step.operand)].type;
    if (type.type != DataType::float32)
      return no_cpu_kernel("a product with an operand of " + to_string(type));
    const Dims dims =
        step.kind == EpilogueKind::bias ? Dims{1, volume(type.dims)} : aligned(type.dims, 2);
    append(step.kind == EpilogueKind::multiply ? PointwiseFunction::mul : PointwiseFunction::add,
           {step.operand, false, dims[0] == 1 ? 0 : dims[1], dims[1] == 1 ? 0 : 1});
  }
  if (chain.steps.size() > kMaxPointwiseSteps || chain.operands.size() > kMaxPointwiseOperands)
    return no_cpu_kernel("a longer epilogue");
  return chain;
}

// What a launch needs of the weights.
struct PreparedProduct {
  TileProductArguments arguments;
  std::vector<ProductOperand> operands;
  Tensor weights;
  std::vector<Tensor> constants;  // of each operand; empty: it comes at run time
};

PreparedProduct prepare_product(const FullyConnected& fc, const ProductChain& chain, bool narrow,
                                Weights weights) {
  PreparedProduct out{{}, chain.operands, packed_weights(fc, weights), {}};
  TileProductArguments& a = out.arguments;
  a.m = fc.m;
  a.n = fc.n;
  a.k = fc.k;
  a.narrow = narrow;
  a.steps = static_cast<int>(chain.steps.size());
  std::ranges::copy(chain.steps, a.step);
  for (const ProductOperand& o : chain.operands) {
    const Tensor* given = weights[static_cast<size_t>(o.input)];
    out.constants.push_back(o.is_addend ? addend_of(fc, weights) : given ? *given : Tensor());
  }
  return out;
}

void launch_product(void (*kernel)(const TileProductArguments&), const PreparedProduct& prepared,
                    const Arguments& arguments) {
  TileProductArguments a = prepared.arguments;
  a.x = static_cast<const uint16_t*>(arguments.inputs[0]);
  a.w = static_cast<const uint16_t*>(prepared.weights.raw());
  a.y = arguments.outputs[0];
  for (size_t i = 0; i < prepared.operands.size(); ++i) {
    const ProductOperand& o = prepared.operands[i];
    const Tensor& constant = prepared.constants[i];
    const void* at =
        constant.bytes() > 0 ? constant.raw() : arguments.inputs[static_cast<size_t>(o.input)];
    a.operand[i] = {static_cast<const float*>(at), o.row, o.column};
  }
  kernel(a);
}

}  // namespace

CpuKernelCandidates offer_cpu_tile_product(const CpuKernelContext& context, const Problem& p) {
  if (!context.tiles)
    return no_cpu_kernel("a matrix product of many rows without instructions for bfloat16");
  const auto of_rows = of_all_rows(p);
  const Problem& product = of_rows ? *of_rows : p;
  const auto fc = read_fully_connected(product);
  if (!fc || fc->k % kStep != 0)
    return no_cpu_kernel(
        "a matrix product other than with constant weights and a depth that is a "
        "multiple of " +
        std::to_string(kStep));
  TRY(const ProductChain chain, product_chain(product, *fc));
  std::vector<CpuKernelCandidate> out;
  for (const DataType result : {DataType::bfloat16, DataType::float32}) {
    Tactic tactic = cpu_kernel_tactic(p, "tile_product");
    tactic.compute = Precision::bf16;
    tactic.inputs[0].type = DataType::bfloat16;
    tactic.outputs[0].type = result;
    // 400 GFLOP/s a thread with AMX, a sixth of what its tiles reach whose operands are at hand;
    // 130 with AVX-512 BF16.
    const double flops_per_us = context.isa >= CpuIsa::amx ? 25'000 : 8'000;
    tactic.estimated_us = movement_and_arithmetic_us(context, p, flops_per_us);
    auto prepare = [kernel = context.tiles->tile_product, fc = *fc, chain,
                    narrow = result == DataType::bfloat16](Weights weights) -> CpuKernelRun {
      return [kernel, all = prepare_product(fc, chain, narrow, weights)](
                 const Arguments& arguments) { launch_product(kernel, all, arguments); };
    };
    out.push_back({std::move(tactic), prepare});
  }
  return out;
}

}  // namespace enginery
