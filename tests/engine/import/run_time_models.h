// Small models of which a size is known after a run alone, and what they give.
#pragma once

#include <gtest/gtest.h>

#include "tests/engine/import/model_builder.h"
#include "tests/support/reference_executor.h"

namespace enginery::test {

using Floats = std::vector<float>;

// The output as a user of the model sees it.
inline Tensor output_of(const ModelBuilder& model, const Floats& x, const std::string& name = "y") {
  const auto run = [&]() -> Result<Tensor> {
    TRY(const ImportedModel imported, model.import());
    const Graph& graph = imported.graph;
    const Dims dims = graph.value(graph.inputs()[0]).type.dims;
    TRY(auto outputs, run_graph(graph, {{"x", Tensor::of<float>(dims, x)}}));
    TRY(auto actual, with_actual_sizes(graph, std::move(outputs)));
    return actual.at(name);
  };
  const auto out = run();
  if (!out.ok()) ADD_FAILURE() << out.error().message;
  return out.ok() ? *out : Tensor();
}

inline void expect_floats(const Tensor& y, const Dims& dims, const Floats& wanted) {
  EXPECT_EQ(y.dims(), dims);
  const Tensor wide = convert(y, DataType::float32);
  EXPECT_EQ(Floats(wide.data<float>().begin(), wide.data<float>().end()), wanted);
}

// The positive ones of x, as p: [n].
inline ModelBuilder positives(int64_t size) {
  ModelBuilder m(13);
  m.input("x", {size}).output("y").weights("zero", {}, {0}).ints("minus_one", {-1});
  m.node("Greater", {"x", "zero"}, {"flags"})
      .node("NonZero", {"flags"}, {"found"})
      .node("Reshape", {"found", "minus_one"}, {"at"})
      .node("Gather", {"x", "at"}, {"p"});
  return m;
}

inline std::string why_refused(const ModelBuilder& model) {
  const auto imported = model.import();
  return imported.ok() ? "it was imported" : imported.error().message;
}

}  // namespace enginery::test
