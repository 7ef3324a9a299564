#include "engine/tactics/cpu/kernel/tile_panels.h"

#include <algorithm>

namespace enginery {

Tensor pack_tile_panels(int64_t n, int64_t k,
                        const std::function<uint16_t(int64_t, int64_t)>& value) {
  constexpr int64_t kTileRows = 16;
  const int64_t panels = (n + kPanelColumns - 1) / kPanelColumns;
  Tensor out(DataType::bfloat16, {panels * kPanelColumns * k});
  auto* to = static_cast<uint16_t*>(out.mutable_bytes());
  for (int64_t column = 0; column < panels * kPanelColumns; ++column) {
    const int64_t tile = column / kTileRows % 2, place = column % kTileRows;
    uint16_t* panel = to + column / kPanelColumns * kPanelColumns * k;
    for (int64_t row = 0; row < k; ++row) {
      const int64_t at =
          ((row / kTileStep * 2 + tile) * kTileRows + row % kTileStep / 2) * kTileStep + 2 * place;
      panel[at + row % 2] = column < n ? value(column, row) : uint16_t{0};
    }
  }
  return out;
}

void TileChain::append(PointwiseFunction function, const TileOperand& operand) {
  steps.push_back({function, static_cast<int>(operands.size()), 0, 0});
  operands.push_back(operand);
}

Status append_epilogue(const Problem& p,
                       const std::function<Result<TileOperand>(const EpilogueStep&)>& place,
                       TileChain& chain) {
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
    TRY(const TileOperand operand, place(step));
    chain.append(
        step.kind == EpilogueKind::multiply ? PointwiseFunction::mul : PointwiseFunction::add,
        operand);
  }
  if (chain.steps.size() > kMaxPointwiseSteps || chain.operands.size() > kMaxPointwiseOperands)
    return no_cpu_kernel("a longer epilogue");
  return {};
}

PreparedTiles prepare_tiles(const TileProductArguments& sizes, const TileChain& chain,
                            Tensor panels, const Tensor& addend, Weights weights) {
  PreparedTiles out{sizes, chain.operands, std::move(panels), {}};
  out.arguments.steps = static_cast<int>(chain.steps.size());
  std::ranges::copy(chain.steps, out.arguments.step);
  for (const TileOperand& o : chain.operands) {
    const Tensor* given = weights[static_cast<size_t>(o.input)];
    out.constants.push_back(o.is_addend ? addend : given ? *given : Tensor());
  }
  return out;
}

TileProductArguments PreparedTiles::at(const Arguments& launch) const {
  TileProductArguments a = arguments;
  a.x = static_cast<const uint16_t*>(launch.inputs[0]);
  a.w = static_cast<const uint16_t*>(panels.raw());
  a.y = launch.outputs[0];
  for (size_t i = 0; i < operands.size(); ++i) {
    const TileOperand& o = operands[i];
    const void* given =
        constants[i].bytes() > 0 ? constants[i].raw() : launch.inputs[static_cast<size_t>(o.input)];
    a.operand[i] = {given, o.row, o.column, o.narrow};
  }
  return a;
}

double tile_flops_per_us(const CpuKernelContext& context) {
  return context.isa >= CpuIsa::amx ? 25'000 : 8'000;
}

}  // namespace enginery
