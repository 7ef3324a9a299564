// What `compare --tensors` shows: errors of values by their names.
#include "engine/compile/value_errors.h"

#include <cmath>

#include "engine/graph/made_up_inputs.h"
#include "tests/engine/compile/compile_support.h"

namespace enginery {
namespace {

using test::Build;
using test::ModelBuilder;

TracedValue value_of(const std::string& name, std::vector<double> samples,
                     DataType type = DataType::float32) {
  return {name, {type, {std::ssize(samples)}}, samples, true};
}

// Each value by a layer of its own.
RunTrace run_of(const std::vector<TracedValue>& values) {
  RunTrace out{values, {}, {}};
  for (size_t v = 0; v < values.size(); ++v)
    out.layers.push_back({"layer" + std::to_string(v), "op" + std::to_string(v), {}, {v}});
  return out;
}

TEST(ValueErrors, AreTheLargestDifferenceAndTheNoise) {
  const auto errors =
      value_errors(run_of({value_of("a", {3, -4.5}), value_of("same", {7})}),
                   run_of({value_of("same", {7}), value_of("a", {3, -5}, DataType::float16)}));
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].name, "a");
  EXPECT_EQ(errors[0].op, "op0");
  EXPECT_DOUBLE_EQ(errors[0].relative, 0.1);
  EXPECT_DOUBLE_EQ(errors[0].sqnr_db, 10 * std::log10(34 / 0.25));
  EXPECT_EQ(errors[1].name, "same");
  EXPECT_EQ(errors[1].relative, 0);
  EXPECT_EQ(errors[1].sqnr_db, INFINITY);
}

TEST(ValueErrors, LeaveOutWhatCannotBeHeldAgainstEachOther) {
  TracedValue input = value_of("input", {1}), unseen = value_of("unseen", {1});
  input.computed = false;
  unseen.samples.clear();
  const RunTrace reference = run_of({value_of("type", {1}), value_of("dims", {1, 2}),
                                     value_of("input", {1}), value_of("unseen", {1})});
  const RunTrace actual = run_of({value_of("type", {1}, DataType::int8), value_of("dims", {1}),
                                  input, unseen, value_of("new", {1})});
  EXPECT_TRUE(value_errors(actual, reference).empty());
}

TEST(ValueErrors, AreOfTheFirstTensorThatHoldsAValue) {
  const auto errors = value_errors(run_of({value_of("a", {1, 2}), value_of("a", {1, 4})}),
                                   run_of({value_of("a", {1, 2})}));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].relative, 0);
  EXPECT_EQ(errors[0].op, "op0");
}

// A fused layer gives the last one of its operators' values.
TEST(ValueErrors, AreSmallBetweenAnEngineAndItsModel) {
  ModelBuilder model;
  model.input("x", {1, 8, 6, 6});
  for (const char* w : {"w1", "w2"}) model.weights(w, {8, 8, 1, 1}, std::vector<float>(64, 0.1f));
  model.node("Conv", {"x", "w1"}, {"a"}).node("Relu", {"a"}, {"b"});
  model.node("Conv", {"b", "w2"}, {"c"}).node("Relu", {"c"}, {"y"}).output("y");
  const Build build(model);
  const std::vector<Tensor> inputs = made_up_inputs(build.model.imported, 3);
  const auto reference = trace_graph(build.model.imported, inputs);
  auto engine = read_unsigned_engine(build.content());
  ASSERT_TRUE(reference.ok() && engine.ok());
  const auto actual = trace_engine(std::move(engine->plan), build.target, inputs);
  ASSERT_TRUE(actual.ok()) << actual.error().message;
  const auto errors = value_errors(*actual, *reference);
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].name, "b");
  EXPECT_EQ(errors[1].name, "y");
  for (const ValueErrors& e : errors) {
    EXPECT_LT(e.relative, 1e-4) << e.name;
    EXPECT_GT(e.sqnr_db, 80) << e.name;
  }
}

TEST(RunTrace, OfAGraphShowsInputsAndConstants) {
  const LoadedModel model = test::loaded_from(
      "input %x : float32[2]\n"
      "%c = constant float32[2] {3, 4}\n"
      "%y = binary(%x, %c) kind=add group=0\n"
      "output %y\n",
      {});
  const auto trace = trace_graph(model.imported, {Tensor::of<float>({2}, {1, 2})});
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  for (const TracedValue& value : trace->values) {
    EXPECT_TRUE(value.is_seen()) << value.name;
    EXPECT_EQ(value.computed, value.name == "y") << value.name;
  }
}

}  // namespace
}  // namespace enginery
