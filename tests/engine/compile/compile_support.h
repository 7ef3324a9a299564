// A small model through all of compile on this machine's CPU.
#pragma once

#include <gtest/gtest.h>

#include "engine/compile/compile.h"
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

// One model with the device that it is built for.
struct Build {
  explicit Build(const ModelBuilder& source, const PassOptions& passes = {})
      : model(load_model(source.source(), "net", one_thread(), passes).value()),
        target(open_target("cpu-sse41", one_thread()).value()),
        network(lower_model(model, target, one_thread()).value()),
        selection(analytic_choice(network, target.sources).value()) {}

  std::shared_ptr<const Bytes> content() const {
    auto bytes = assemble(model, network, selection, target, one_thread());
    EXPECT_TRUE(bytes.ok()) << bytes.error().message;
    return std::make_shared<const Bytes>(bytes.ok() ? std::move(*bytes) : Bytes());
  }
  Result<Accuracy> verify() const { return verify_content(model, content(), target, one_thread()); }

  LoadedModel model;
  Target target;
  Network network;
  TacticSelection selection;
};

}  // namespace enginery::test
