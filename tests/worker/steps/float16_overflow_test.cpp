// What a build does about values that float16 does not hold, with a tactic made up for it: on a CPU
// nothing else computes in float16.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/format/engine_file.h"
#include "engine/tactics/cpu/reference/reference_source.h"
#include "pipeline/result.h"
#include "tests/engine/import/model_builder.h"
#include "tests/worker/steps/step_fixture.h"

namespace enginery {
namespace {

using namespace test;

// The right numbers, rounded to float16.
class InHalves final : public PreparedTactic {
 public:
  InHalves(TensorType result, std::shared_ptr<const PreparedTactic> right)
      : result_(std::move(result)), right_(std::move(right)) {}

  Status enqueue(Stream& stream, const Arguments& arguments) const override {
    Tensor wide(result_.type, result_.dims);
    void* to = wide.mutable_bytes();
    CHECK_OK(right_->enqueue(stream, {arguments.inputs, std::span(&to, 1), arguments.workspace}));
    const Tensor half = convert(wide, DataType::float16);
    std::memcpy(arguments.outputs[0], half.raw(), static_cast<size_t>(half.bytes()));
    return {};
  }
  int64_t weight_bytes() const override { return 0; }
  int64_t workspace_bytes() const override { return right_->workspace_bytes(); }

 private:
  const TensorType result_;
  const std::shared_ptr<const PreparedTactic> right_;
};

// For convolutions, where fp16 is allowed; its estimate promises the most.
class HalvesSource final : public TacticSource {
 public:
  explicit HalvesSource(std::unique_ptr<TacticSource> reference)
      : reference_(std::move(reference)) {}
  SourceTraits traits() const override { return {.name = "halves"}; }

  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>& allowed) const override {
    if (!std::holds_alternative<Convolution>(problem.op) || !allowed.contains(Precision::fp16))
      return Error{ErrorCode::unsupported, "convolutions in fp16 only"};
    TRY(Tactic tactic, reference_tactic(problem, "rounded"));
    tactic.source = "halves";
    tactic.compute = Precision::fp16;
    tactic.estimated_us = 0;
    tactic.outputs[0].type = DataType::float16;
    return std::vector{tactic};
  }

  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& problem, const Tactic&,
                                                        Weights weights) const override {
    TRY(const Tactic same, reference_tactic(problem, "host"));
    TRY(auto right, reference_->prepare(problem, same, weights));
    return std::shared_ptr<const PreparedTactic>(
        std::make_shared<InHalves>(problem.outputs[0].type, std::move(right)));
  }

 private:
  const std::unique_ptr<TacticSource> reference_;
};

Result<Target> open_with_halves(const std::string& sku, const BuildOptions& options) {
  TRY(Target target, open_target(sku, options));
  TRY(auto reference, make_reference_source(target.device->info()));
  target.sources.insert(target.sources.begin(),
                        std::make_unique<HalvesSource>(std::move(reference)));
  return target;
}

// Convolutions 1x1 of two channels, of these factors.
Bytes scaled(const std::vector<float>& factors) {
  ModelBuilder model;
  model.input("x", {1, 2, 6, 6});
  std::string value = "x";
  for (size_t i = 0; i < factors.size(); ++i) {
    const std::string n = std::to_string(i);
    const float f = factors[i];
    model.weights("w" + n, {2, 2, 1, 1}, {f, f / 2, -f, f / 4});
    model.node("Conv", {value, "w" + n}, {"c" + n});
    value = "r" + n;
    model.node("Relu", {"c" + n}, {value});
  }
  model.node("Identity", {value}, {"y"}).output("y");
  return model.bytes();
}

struct HalfBuild {
  explicit HalfBuild(const std::vector<float>& factors) {
    BuildSessionSpec spec = spec_of(scaled(factors));
    spec.options.precisions = {Precision::fp32, Precision::fp16};
    spec.open = open_with_halves;
    session.emplace(std::move(spec));
  }

  Result<StepOutputs> run(Result<StepOutputs> (*step)(const StepContext&), StepInputs inputs) {
    StepContext context = step_in(*session, std::move(inputs));
    context.tuning.timings = &store;
    return step(context);
  }
  Result<StepOutputs> assembled(std::shared_ptr<const Bytes> choices) {
    return run(assemble_step, {{"choices", std::move(choices)}});
  }
  // The content as it is chosen first.
  StepInputs first() {
    auto tuned = run(tune_step, {});
    EXPECT_TRUE(tuned.ok()) << tuned.error().message;
    auto content = assembled(tuned->blobs["choices"]);
    EXPECT_TRUE(content.ok()) << content.error().message;
    return {{"content", content->blobs["content"]}};
  }
  // Which of the engine's convolutions are the made-up tactic's, in their order.
  static std::vector<bool> in_halves(const Bytes& content) {
    auto file = read_unsigned_engine(shared(content));
    EXPECT_TRUE(file.ok()) << file.error().message;
    std::vector<bool> out;
    for (const PlanStep& s : file->plan.steps) {
      if (std::holds_alternative<Convolution>(s.problem.op))
        out.push_back(s.tactic.source == "halves");
    }
    return out;
  }

  MemoryTimingStore store;
  std::optional<BuildSession> session;
};

TEST(Float16Overflow, ThoseLayersAreChosenAgainInFp32) {
  HalfBuild build({1e6f, 1e-6f, 1, 1});
  const StepInputs first = build.first();
  ASSERT_EQ(HalfBuild::in_halves(*first.at("content")),
            (std::vector<bool>{true, true, true, true}));

  auto verified = build.run(verify_step, first);
  ASSERT_TRUE(verified.ok()) << verified.error().message;
  EXPECT_EQ(verified->rejected, "");
  EXPECT_LE(number_named(verified->metrics, "error"), 1e-2);
  ASSERT_TRUE(verified->blobs.count("content") && verified->blobs.count("choices"));
  EXPECT_EQ(HalfBuild::in_halves(*verified->blobs["content"]),
            (std::vector<bool>{false, false, true, true}))
      << "the layer that gives such values and the one that reads them";
  const std::string said = text_named(verified->facts, "verify_notes");
  EXPECT_TRUE(contains(said, "more than the 65504 that float16 holds")) << said;
  EXPECT_TRUE(contains(said, "2 layers around it compute in fp32")) << said;
  EXPECT_FALSE(contains(said, "build with")) << "nothing is left to do: " << said;
}

// The choices say so themselves: another training begins with them.
TEST(Float16Overflow, LaterBuildsFollowTheChoices) {
  HalfBuild build({1e6f, 1e-6f, 1, 1});
  const StepInputs first = build.first();
  auto verified = build.run(verify_step, first);
  ASSERT_TRUE(verified.ok() && verified->blobs.count("choices"));

  HalfBuild retrained({2e6f, 1e-6f, 1, 1});
  auto content = retrained.assembled(verified->blobs["choices"]);
  ASSERT_TRUE(content.ok()) << content.error().message;
  EXPECT_EQ(HalfBuild::in_halves(*content->blobs["content"]),
            (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ(retrained.session->beyond_float16().size(), 2u)
      << "the choices name the layers that stay in fp32";
  auto right = retrained.run(verify_step, {{"content", content->blobs["content"]}});
  ASSERT_TRUE(right.ok()) << right.error().message;
  EXPECT_EQ(right->rejected, "");
  EXPECT_FALSE(right->blobs.count("content")) << "nothing had to be chosen again";
}

TEST(Float16Overflow, WhatFitsStaysInFloat16) {
  HalfBuild build({100, 1, 1});
  const StepInputs first = build.first();
  auto verified = build.run(verify_step, first);
  ASSERT_TRUE(verified.ok()) << verified.error().message;
  EXPECT_EQ(verified->rejected, "");
  EXPECT_FALSE(verified->blobs.count("content"));
}

// Without a store nothing is chosen again; the reason and a remedy are said.
TEST(Float16Overflow, IsSaidWhereNothingIsChosenAgain) {
  HalfBuild build({1e6f, 1e-6f, 1, 1});
  const StepInputs first = build.first();
  const auto verified = verify_step(step_in(*build.session, first));
  ASSERT_TRUE(verified.ok()) << verified.error().message;
  EXPECT_TRUE(contains(verified->rejected, "more than the 65504 that float16 holds; build with"))
      << verified->rejected;
}

}  // namespace
}  // namespace enginery
