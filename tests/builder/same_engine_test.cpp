// A network that is put together layer by layer is the network that an importer makes of the same
// model: the same engine comes out.
#include <gtest/gtest.h>

#include "engine/compile/compile.h"
#include "engine/graph/text.h"
#include "tests/builder/cpu_sku.h"
#include "tests/builder/layer_sink.h"
#include "tuner/analytic_choice.h"

namespace enginery::test {
namespace {

BuildOptions options_of_test() {
  BuildOptions options;
  options.threads = 1;
  return options;
}

LoadedModel loaded(std::unique_ptr<LayerSink> sink, void (*describe)(LayerSink&)) {
  describe(*sink);
  auto model = load_model({"model", sink->bytes(), std::nullopt}, "net", options_of_test());
  EXPECT_TRUE(model.ok()) << model.error().message;
  return *model;
}

// The engine's content but for the model file's own digest, which is in its manifest.
Bytes content_of(LoadedModel model, const Target& target) {
  model.model_digest = sha256("one of both");
  const auto network = lower_model(model, target, options_of_test());
  EXPECT_TRUE(network.ok()) << network.error().message;
  const auto selection = analytic_choice(*network, target.sources);
  EXPECT_TRUE(selection.ok()) << selection.error().message;
  const auto content = assemble(model, *network, *selection, target, options_of_test());
  EXPECT_TRUE(content.ok()) << content.error().message;
  return *content;
}

struct DescribedNetwork {
  const char* name;
  void (*describe)(LayerSink&);
  size_t min_layers;
  bool is_read_in_steps = false;  // the importer has steps of its own, which passes take out
};

class SameEngine : public testing::TestWithParam<DescribedNetwork> {};

TEST_P(SameEngine, AsOfTheImportedModel) {
  const auto& [name, describe, min_layers, is_read_in_steps] = GetParam();
  const LoadedModel imported = loaded(make_onnx_sink(), describe);
  const LoadedModel made = loaded(make_network_sink(), describe);
  EXPECT_GE(static_cast<size_t>(imported.imported.live_node_count()), min_layers);
  if (!is_read_in_steps) {
    EXPECT_EQ(fingerprint(made.imported), fingerprint(imported.imported));
  }
  EXPECT_EQ(fingerprint(made.graph), fingerprint(imported.graph));
  EXPECT_EQ(made.structure_digest, imported.structure_digest);
  const auto target = open_target(cpu_sku(), options_of_test());
  ASSERT_TRUE(target.ok()) << target.error().message;
  EXPECT_EQ(sha256(content_of(made, *target)), sha256(content_of(imported, *target)));
}

INSTANTIATE_TEST_SUITE_P(Networks, SameEngine,
                         testing::Values(DescribedNetwork{"ResNet50", describe_resnet50, 170},
                                         DescribedNetwork{"Transformer", describe_transformer, 29},
                                         DescribedNetwork{"Selection", describe_selection, 12,
                                                          true}),
                         [](const auto& network) { return network.param.name; });

}  // namespace
}  // namespace enginery::test
