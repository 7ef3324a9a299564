// A made-up region, a convolution with the pooling behind it, through all that a build does: it is
// found, measured, wins where it is faster and loses where it is slower, is written, read and run.
#include "engine/tactics/region.h"

#include "engine/device/format_convert.h"
#include "engine/format/engine_file.h"
#include "engine/runtime/execution.h"
#include "engine/tactics/cpu/reference/reference_source.h"
#include "tests/engine/format/small_engine.h"
#include "tests/tuner/fake_tactics.h"

namespace enginery {
namespace {

using test::TestDevice;
using Damage = std::function<void(std::vector<Tensor>&)>;

// Takes the time that it is told and, where it is not timed, computes as the reference does, with
// the damage.
class MadeUp final : public PreparedTactic {
 public:
  MadeUp(TestDevice& device, Problem problem, Weights weights, double us, Damage damage)
      : device_(device), problem_(std::move(problem)), us_(us), damage_(std::move(damage)) {
    for (const Tensor* w : weights) weights_.push_back(w ? *w : Tensor());
  }
  Status enqueue(Stream&, const Arguments& a) const override {
    device_.elapsed_us += us_;
    if (device_.is_timing) return {};
    std::vector<Tensor> held = weights_;
    std::vector<const Tensor*> inputs;
    for (size_t i = 0; i < held.size(); ++i) {
      const TensorDesc& desc = problem_.inputs[i];
      if (!desc.constant) held[i] = from_physical(a.inputs[i], desc.type.dims, Format{});
      inputs.push_back(&held[i]);
    }
    TRY(auto outputs, run_problem_reference(problem_, inputs));
    damage_(outputs);
    to_physical(outputs[0], Format{}, a.outputs[0]);
    return {};
  }
  int64_t weight_bytes() const override { return 0; }
  int64_t workspace_bytes() const override { return 0; }

 private:
  TestDevice& device_;
  const Problem problem_;
  const double us_;
  const Damage damage_;
  std::vector<Tensor> weights_;
};

// Single operators in 10 us each, or, where it has a time for them, pairs.
class MadeUpSource final : public TacticSource {
 public:
  MadeUpSource(TestDevice& device, std::string name, double pair_us, Damage damage)
      : device_(device), name_(std::move(name)), pair_us_(pair_us), damage_(std::move(damage)) {}
  SourceTraits traits() const override {
    return {.name = name_, .trust = Trust::may_be_wrong, .takes_regions = pair_us_ > 0};
  }
  std::vector<RegionPattern> regions() const override {
    if (pair_us_ <= 0) return {};
    return {{{{is_operator<Convolution>, {}}, {is_operator<Pooling>, {0}}}}};
  }
  Result<std::vector<Tactic>> offer(const Problem& p, const std::set<Precision>&) const override {
    if (is_region(p) != (pair_us_ > 0)) return Error{ErrorCode::unsupported, "made for others"};
    Tactic t;
    t.source = name_;
    t.id = "made_up";
    t.inputs.resize(p.inputs.size());
    t.outputs.resize(p.outputs.size());
    return std::vector<Tactic>{t};
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& p, const Tactic&,
                                                        Weights weights) const override {
    const double us = pair_us_ > 0 ? pair_us_ : 10;
    return std::shared_ptr<const PreparedTactic>(
        std::make_shared<MadeUp>(device_, p, weights, us, damage_));
  }

 private:
  TestDevice& device_;
  const std::string name_;
  const double pair_us_;
  const Damage damage_;
};

constexpr const char* kStem =
    "graph t {\n input %x : float32[1x3x8x8]\n %w = constant float32[4x3x3x3] random(1)\n %c = "
    "conv(%x, %w) strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=1\n %p = "
    "pool(%c) kind=max kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] "
    "pads_end=[0,0]\n output %p\n}";

// A stem whose halves take 10 us each, and a source that runs both at once.
struct Stem {
  TestDevice device;
  TacticSources sources;
  MemoryTimingStore store;
  Network network;

  explicit Stem(
      double pair_us, Damage damage = [](std::vector<Tensor>&) {}) {
    sources.push_back(std::make_unique<MadeUpSource>(device, "single", 0, [](auto&) {}));
    sources.push_back(std::make_unique<MadeUpSource>(device, "pair", pair_us, std::move(damage)));
    network = *lower(*parse_graph(kStem), sources, {Precision::fp32});
  }
  // The chosen plan, as it comes out of the engine file that was written of it.
  Plan built() {
    Tuner tuner(device, sources, store, {});
    const auto selection = tuner.select(network);
    EXPECT_TRUE(selection.ok()) << selection.error().message;
    const auto plan = make_plan(network, *selection);
    EXPECT_TRUE(plan.ok()) << plan.error().message;
    const Bytes file = test::unsigned_engine(*plan, test::manifest_of(*plan, "cpu-sse41"));
    auto read = read_unsigned_engine(std::make_shared<const Bytes>(file));
    EXPECT_TRUE(read.ok()) << read.error().message;
    return std::move(read->plan);
  }
  std::vector<float> run(const Plan& plan, const Tensor& x) {
    const auto program = Program::make(plan, device, sources);
    EXPECT_TRUE(program.ok()) << program.error().message;
    const auto execution = Execution::make(*program);
    EXPECT_TRUE(execution.ok());
    std::vector<float> y(4 * 4 * 4, NAN);
    const void* inputs[] = {x.raw()};
    void* outputs[] = {y.data()};
    EXPECT_TRUE((*execution)->run(inputs, outputs).ok());
    return y;
  }
};

Tensor picture() {
  Tensor x(DataType::float32, {1, 3, 8, 8});
  float v = 0;
  for (float& e : x.mutable_data<float>()) e = std::sin(v += 1.3f);
  return x;
}

// Pooled maxima of the convolution, by the operators' references.
std::vector<float> expected(const Network& network, const Tensor& x) {
  Tensor value = x;
  for (const NetworkNode& node : network.nodes) {
    std::vector<const Tensor*> inputs = network.weights(node);
    inputs[0] = &value;
    value = run_reference(node.problem.op, inputs)->at(0);
  }
  const auto y = value.data<float>();
  return {y.begin(), y.end()};
}

TEST(Region, WinsWhereItIsFaster) {
  Stem stem(15);
  ASSERT_EQ(stem.network.nodes.size(), 2u);
  ASSERT_EQ(stem.network.alternatives.size(), 1u);
  const Plan plan = stem.built();
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_EQ(plan.steps[0].tactic.source, "pair");
  EXPECT_EQ(operator_names(plan.steps[0].problem), "conv+pool");
  const Tensor x = picture();
  EXPECT_EQ(stem.run(plan, x), expected(stem.network, x));
}

TEST(Region, LosesWhereItIsSlower) {
  Stem stem(30);
  const Plan plan = stem.built();
  ASSERT_EQ(plan.steps.size(), 2u);
  for (const PlanStep& step : plan.steps) EXPECT_EQ(step.tactic.source, "single");
  const Tensor x = picture();
  EXPECT_EQ(stem.run(plan, x), expected(stem.network, x));
}

// One element of 64, off by a thousandth.
TEST(Region, LosesWhereItIsWrong) {
  Stem stem(15, [](std::vector<Tensor>& y) { y[0].mutable_data<float>()[63] += 1e-3f; });
  const Plan plan = stem.built();
  EXPECT_EQ(plan.steps.size(), 2u);
  const auto timings = stem.store.find(device_key(stem.device.info()),
                                       stem.network.alternatives[0].instead[0].problem.key());
  ASSERT_EQ(timings->size(), 1u);
  EXPECT_EQ(timings->front().failure_kind, FailureKind::wrong_result);
}

// What the store knows of a region decides again, and nothing is measured.
TEST(Region, IsChosenAgainFromTheStore) {
  Stem stem(15);
  stem.built();
  const int timed = stem.device.timed;
  EXPECT_EQ(stem.built().steps.size(), 1u);
  EXPECT_EQ(stem.device.timed, timed);
}

// A file may name any source for a region: one that runs single operators is not asked.
TEST(Region, IsPreparedByNoSourceThatRunsSingleOperators) {
  Stem stem(15);
  Plan plan = stem.built();
  plan.steps[0].tactic.source = "single";
  const auto program = Program::make(plan, stem.device, stem.sources);
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().message,
            "layer 'c+p': single: runs one operator at a time, not the region conv+pool");
}

}  // namespace
}  // namespace enginery
