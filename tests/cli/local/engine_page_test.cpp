#include "cli/local/engine_page.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

LayerInfo layer(int stream, std::vector<std::string> inputs, std::vector<std::string> outputs) {
  LayerInfo out;
  out.stream = stream;
  out.inputs = std::move(inputs);
  out.outputs = std::move(outputs);
  return out;
}

TEST(EnginePage, ALayerStartsBehindWhatItReadsAndBehindItsStream) {
  const std::vector<LayerInfo> layers = {layer(0, {"x"}, {"a"}), layer(1, {"x"}, {"b"}),
                                         layer(0, {"a"}, {"c"}), layer(1, {"c"}, {"d"}),
                                         layer(0, {"b", "c"}, {"e"})};
  EXPECT_EQ(layer_starts_us(layers, {10, 50, 5, 1, 1}), (std::vector<double>{0, 0, 10, 50, 50}));
}

TEST(EnginePage, OfABenchNamesLayersWithoutLettingThemWriteHtml) {
  EngineInfo info;
  info.name = "net<b>";
  info.layers = {layer(0, {"x"}, {"y"})};
  info.layers[0].name = "conv<img>";
  const std::string page = bench_page(info, {{{1, 2, 3}, 0.006}, {7.5}, 500, {}});
  EXPECT_EQ(page.find("<img>"), std::string::npos);
  EXPECT_NE(page.find("conv&lt;img&gt;"), std::string::npos);
  EXPECT_NE(page.find("7.50"), std::string::npos);
  EXPECT_NE(page.find("500.0 rows a second"), std::string::npos);
  const std::string plain = bench_page(info, {{{1, 2, 3}, 0.006}, {}, 500, {}});
  EXPECT_EQ(plain.find("Timeline"), std::string::npos);
}

}  // namespace
}  // namespace enginery
