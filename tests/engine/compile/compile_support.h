// A small model through all of compile on this machine's CPU.
#pragma once

#include <gtest/gtest.h>

#include "engine/compile/compile.h"
#include "engine/graph/text.h"
#include "tests/engine/import/model_builder.h"
#include "tuner/analytic_choice.h"

namespace enginery::test {

inline BuildOptions one_thread() {
  BuildOptions options;
  options.threads = 1;
  return options;
}

// x float32[1,2,4,4] -> Relu -> a, and x -> Tanh -> b: two outputs.
inline ModelBuilder two_outputs() {
  ModelBuilder model;
  model.input("x", {1, 2, 4, 4}).node("Relu", {"x"}, {"a"}).node("Tanh", {"x"}, {"b"});
  model.output("a").output("b");
  return model;
}

// 1,024 positions, halved and rounded down, choose rows of 513: bfloat16 would take 257 for 256.
inline ModelBuilder rows_by_halved_positions() {
  ModelBuilder model;
  std::vector<float> table(513);
  for (size_t i = 0; i < table.size(); ++i) table[i] = i % 2 == 0 ? 1.0f : -1.0f;
  model.input("x", {1024}).output("y").weights("two", {1}, {2}).weights("table", {513}, table);
  model.ints("all", {1024}).node("TopK", {"x", "all"}, {"values", "places"});
  model.node("Cast", {"places"}, {"f"}, {{"to", 1}}).node("Div", {"f", "two"}, {"half"});
  model.node("Floor", {"half"}, {"row"}).node("Cast", {"row"}, {"i"}, {{"to", kInt64}});
  model.node("Gather", {"table", "i"}, {"y"});
  return model;
}

// A graph's text as a model that is imported and has gone through the passes.
inline LoadedModel loaded_from(const std::string& text, const PassOptions& passes) {
  LoadedModel out;
  out.imported = parse_graph("graph t {\n" + text + "\n}").value();
  out.graph = out.imported;
  const Status run = run_passes(out.graph, passes);
  EXPECT_TRUE(run.ok()) << run.error().message;
  return out;
}

// One model with the device that it is built for.
struct Build {
  explicit Build(const ModelBuilder& source, const PassOptions& passes = {})
      : Build(load_model(source.source(), "net", one_thread(), passes).value()) {}
  explicit Build(LoadedModel loaded)
      : model(std::move(loaded)),
        target(open_target("cpu-sse41", one_thread()).value()),
        network(lower_model(model, target, one_thread()).value()),
        selection(analytic_choice(network, target.sources).value()) {}

  std::shared_ptr<const Bytes> content() const {
    auto bytes = assemble(model, network, selection, target, one_thread());
    EXPECT_TRUE(bytes.ok()) << bytes.error().message;
    return std::make_shared<const Bytes>(bytes.ok() ? std::move(*bytes) : Bytes());
  }
  Result<Accuracy> verify() const { return verify_content(model, content(), target); }

  LoadedModel model;
  Target target;
  Network network;
  TacticSelection selection;
};

}  // namespace enginery::test
