// What is written or read as channels of a wider tensor is checked as it will run, and copied where
// it is wrong.
#include "tuner/pitched_places.h"

#include "engine/device/format_convert.h"
#include "engine/plan/slices.h"
#include "engine/tactics/cpu/reference/reference_source.h"
#include "tests/tuner/fake_tactics.h"

namespace enginery {
namespace {

const Format kPixels{DataType::float32, {LayoutKind::channels_last, 0}};

// What a source gets wrong with a pitch: it writes one element too far, or reads as without one.
enum class Wrong { nothing, writing, reading };

// The reference in the formats of the tactic.
class PreparedPixels final : public PreparedTactic {
 public:
  PreparedPixels(test::TestDevice& device, Problem problem, Tactic tactic, Weights weights,
                 Wrong wrong)
      : device_(device), problem_(std::move(problem)), tactic_(std::move(tactic)), wrong_(wrong) {
    if (wrong == Wrong::reading) tactic_.inputs[0] = without_pitch(tactic_.inputs[0]);
    for (const Tensor* t : weights) weights_.push_back(t ? *t : Tensor());
  }
  Status enqueue(Stream&, const Arguments& a) const override {
    device_.elapsed_us += tactic_.id == "rival" ? 8 : 10;
    if (device_.is_timing) return {};  // nobody looks at the results
    std::vector<Tensor> read;
    std::vector<const Tensor*> inputs;
    for (size_t i = 0; i < a.inputs.size(); ++i)
      read.push_back(problem_.inputs[i].constant
                         ? weights_[i]
                         : from_physical(a.inputs[i], input_dims(problem_, i), tactic_.inputs[i]));
    for (const Tensor& t : read) inputs.push_back(&t);
    TRY(const auto results, run_problem_reference(problem_, inputs));
    for (size_t i = 0; i < results.size(); ++i)
      to_physical(results[i], tactic_.outputs[i], a.outputs[i]);
    if (wrong_ == Wrong::writing && has_pitch(tactic_.outputs[0]))
      static_cast<float*>(a.outputs[0])[output_dims(problem_)[1]] = 0;
    return {};
  }
  int64_t weight_bytes() const override { return 0; }
  int64_t workspace_bytes() const override { return 0; }

 private:
  test::TestDevice& device_;
  const Problem problem_;
  Tactic tactic_;
  std::vector<Tensor> weights_;
  const Wrong wrong_;
};

class PixelSource final : public TacticSource {
 public:
  PixelSource(test::TestDevice& device, Wrong wrong) : device_(device), wrong_(wrong) {}
  // Of activations a faster tactic, too, which knows no pitch.
  bool has_rivals = false;
  SourceTraits traits() const override {
    return {.name = "test", .trust = Trust::may_fault, .serves_pitches = true};
  }
  Result<std::vector<Tactic>> offer(const Problem& p, const std::set<Precision>&) const override {
    Tactic t;
    t.source = "test";
    t.id = "only";
    t.inputs.assign(p.inputs.size(), kPixels);
    t.outputs.assign(p.outputs.size(), kPixels);
    if (is_reformat(p)) {
      t.inputs = {*p.inputs[0].pinned};
      t.outputs = {*p.outputs[0].pinned};
    }
    t.writes_pitched = t.reads_pitched = is_one_of<Activation>(p);
    if (!has_rivals || !is_one_of<Activation>(p)) return std::vector<Tactic>{t};
    Tactic rival = t;
    rival.id = "rival";
    rival.writes_pitched = rival.reads_pitched = false;
    return std::vector<Tactic>{rival, t};
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& p, const Tactic& t,
                                                        Weights weights) const override {
    return std::shared_ptr<const PreparedTactic>(
        std::make_shared<PreparedPixels>(device_, p, t, weights, wrong_));
  }

 private:
  test::TestDevice& device_;
  const Wrong wrong_;
};

// Two activations whose channels are joined; one whose channels are cut, and two that read them.
const std::string kJoining =
    "input %x : float32[2x4x3x3]\n %a = act(%x) kind=relu\n %b = act(%x) kind=tanh\n "
    "%c = concat(%a, %b) axis=1\n %d = act(%c) kind=relu\n output %d";
const std::string kCutting =
    "input %x : float32[2x8x3x3]\n %r = act(%x) kind=relu\n "
    "%a, %b = split(%r) axis=1 sizes=[4,4]\n %c = act(%a) kind=tanh\n %d = act(%b) kind=tanh\n "
    "output %c\n output %d";

struct PitchedTuning {
  test::TestDevice device;
  TacticSources sources;
  MemoryTimingStore store;
  Network network;
  std::string said;
  PitchedTuning(const std::string& body, Wrong wrong, bool has_rivals = false) {
    auto source = std::make_unique<PixelSource>(device, wrong);
    source->has_rivals = has_rivals;
    sources.push_back(std::move(source));
    auto graph = parse_graph("graph t { " + body + " }");
    network = *lower(*graph, sources, {Precision::fp32});
  }
  Result<TacticSelection> select(int level) {
    TunerOptions options;
    options.level = level;
    options.log = [this](const std::string& line) { said += line + "\n"; };
    Tuner tuner(device, sources, store, options);
    return tuner.select(network);
  }
};

TEST(PitchedPlaces, AreTakenWhereTacticsAreRightThere) {
  PitchedTuning tuning(kJoining, Wrong::nothing);
  const auto chosen = tuning.select(kDefaultLevel);
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->tactics[2].id, kSliceId);
  const auto plan = make_plan(tuning.network, *chosen);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->steps[1].tactic.outputs[0], with_pitch(kPixels, 8));
}

// Two activations at 10 us that save a concat, not two at 8 us before one.
TEST(PitchedPlaces, AreTakenBySlowerTacticsWhereThatSavesACopy) {
  PitchedTuning tuning(kJoining, Wrong::nothing, true);
  const auto chosen = tuning.select(kDefaultLevel);
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->tactics[0].id, "only");
  EXPECT_EQ(chosen->tactics[1].id, "only");
  EXPECT_EQ(chosen->tactics[2].id, kSliceId);
  EXPECT_EQ(chosen->tactics[3].id, "rival");
}

TEST(PitchedPlaces, AreReadWhereTacticsAreRightThere) {
  PitchedTuning tuning(kCutting, Wrong::nothing);
  const auto chosen = tuning.select(kDefaultLevel);
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->tactics[1].id, kSliceId);
  const auto plan = make_plan(tuning.network, *chosen);
  ASSERT_TRUE(plan) << plan.error().message;
  const auto reader = std::ranges::find(plan->steps, "d", &PlanStep::name);
  ASSERT_NE(reader, plan->steps.end());
  EXPECT_EQ(reader->tactic.inputs[0], with_pitch(kPixels, 8));
}

TEST(PitchedPlaces, AreNotReadWhereATacticIsWrongThere) {
  PitchedTuning tuning(kCutting, Wrong::reading);
  const auto chosen = tuning.select(kDefaultLevel);
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->tactics[1].id, "only");
  EXPECT_NE(tuning.said.find("copied instead: layer '"), std::string::npos) << tuning.said;
}

TEST(PitchedPlaces, AreLeftWhereATacticIsWrongThere) {
  for (const int level : {2, kDefaultLevel}) {
    PitchedTuning tuning(kJoining, Wrong::writing);
    const auto chosen = tuning.select(level);
    ASSERT_TRUE(chosen) << chosen.error().message;
    EXPECT_EQ(chosen->tactics[2].id, "only") << level;
    EXPECT_NE(tuning.said.find("wrote between its pixels"), std::string::npos) << tuning.said;
    tuning.said.clear();
    EXPECT_EQ(tuning.select(level)->tactics[2].id, "only");  // as the store has it
    EXPECT_NE(tuning.said.find("wrote between its pixels"), std::string::npos) << tuning.said;
  }
}

}  // namespace
}  // namespace enginery
