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

PreparedTiles prepare_tiles(const TileProductArguments& sizes, const ProductChain& chain,
                            Tensor panels, const Tensor& addend, Weights weights) {
  PreparedTiles out{sizes, ChainOperands(chain, addend, weights), std::move(panels)};
  out.arguments.steps = static_cast<int>(chain.steps.size());
  std::ranges::copy(chain.steps, out.arguments.step);
  return out;
}

TileProductArguments PreparedTiles::at(const Arguments& launch) const {
  TileProductArguments a = arguments;
  a.x = static_cast<const uint16_t*>(launch.inputs[0]);
  a.w = static_cast<const uint16_t*>(panels.raw());
  a.y = launch.outputs[0];
  operands.write(launch, a.operand);
  return a;
}

double tile_flops_per_us(const CpuKernelContext& context) {
  return context.isa >= CpuIsa::amx ? 25'000 : 8'000;
}

}  // namespace enginery
