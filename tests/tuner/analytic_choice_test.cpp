// The choice without measurements, over a source of made-up estimates.
#include "tuner/analytic_choice.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/graph/text.h"
#include "tuner/timing/read_only_store.h"

namespace enginery {
namespace {

const Format kOrdinary{DataType::float32, {}};
const Format kOther{DataType::float32, {LayoutKind::channels_last, 0}};

Tactic estimated(const std::string& id, const Format& in, const Format& out, double us) {
  Tactic tactic;
  tactic.source = "estimates", tactic.id = id;
  tactic.inputs = {in}, tactic.outputs = {out};
  tactic.estimated_us = us;
  return tactic;
}

// Every activation in either layout, the other one by 2 us faster; a reformat takes `reformat_us`,
// or there is none.
class Estimates final : public TacticSource {
 public:
  explicit Estimates(std::optional<double> reformat_us) : reformat_us_(reformat_us) {}
  SourceTraits traits() const override {
    return {.name = "estimates", .trust = Trust::may_be_wrong};
  }
  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>&) const override {
    if (!is_reformat(problem))
      return std::vector{estimated("ordinary", kOrdinary, kOrdinary, 10),
                         estimated("other", kOther, kOther, 8)};
    if (!reformat_us_) return Error{ErrorCode::unsupported, "no reformats"};
    return std::vector{
        estimated("change", *problem.inputs[0].pinned, *problem.outputs[0].pinned, *reformat_us_)};
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem&, const Tactic&,
                                                        Weights) const override {
    return Error{ErrorCode::internal, "nothing is prepared for a choice"};
  }

 private:
  std::optional<double> reformat_us_;
};

// Anything in its ordinary layout, in next to no time by its estimate.
class HastyReference final : public TacticSource {
 public:
  SourceTraits traits() const override {
    return {.name = "hasty_reference", .trust = Trust::reference};
  }
  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>&) const override {
    if (is_reformat(problem)) return Error{ErrorCode::unsupported, "no reformats"};
    Tactic tactic = estimated("at_once", kOrdinary, kOrdinary, 0.01);
    tactic.source = "hasty_reference";
    return std::vector{tactic};
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem&, const Tactic&,
                                                        Weights) const override {
    return Error{ErrorCode::internal, "nothing is prepared for a choice"};
  }
};

// How many of three activations in a row work in the other layout, and how many reformats there
// are.
struct Activations {
  TacticSources sources;
  Network network;
};

Activations activations(std::optional<double> reformat_us, bool has_reference = false) {
  Activations out;
  if (has_reference) out.sources.push_back(std::make_unique<HastyReference>());
  out.sources.push_back(std::make_unique<Estimates>(reformat_us));
  Graph graph = *parse_graph(R"(graph c { input %a : float32[1x8x4x4]
    %b = act(%a) kind=relu
    %c = act(%b) kind=relu
    %d = act(%c) kind=relu
    output %d
  })");
  auto network = lower(std::move(graph), out.sources, {Precision::fp32});
  EXPECT_TRUE(network.ok());
  if (network.ok()) out.network = std::move(*network);
  return out;
}

std::pair<int, size_t> choice_with(std::optional<double> reformat_us,
                                   KnownFailures* failures = nullptr) {
  const Activations a = activations(reformat_us);
  auto choice = analytic_choice(a.network, a.sources, failures);
  if (!choice.ok()) {
    ADD_FAILURE() << choice.error().message;
    return {-1, 0};
  }
  const auto others = std::count_if(choice->tactics.begin(), choice->tactics.end(),
                                    [](const Tactic& t) { return t.id == "other"; });
  return {static_cast<int>(others), choice->reformats.size()};
}

// Quantised sums as regions at `region_us`, every other operator at 10.
class RegionEstimates final : public TacticSource {
 public:
  explicit RegionEstimates(double region_us) : region_us_(region_us) {}
  SourceTraits traits() const override {
    return {.name = "estimates", .trust = Trust::may_be_wrong, .takes_regions = true};
  }
  std::vector<RegionPattern> regions() const override {
    return {{{{is_operator<Dequantize>, {}}, {is_operator<Quantize>, {0}}}},
            {{{is_operator<Activation>, {}}, {is_operator<Activation>, {0}}}}};
  }
  Result<std::vector<Tactic>> offer(const Problem& p, const std::set<Precision>&) const override {
    Tactic tactic;
    tactic.source = "estimates", tactic.id = is_region(p) ? "whole" : "one";
    for (const TensorDesc& d : p.inputs) tactic.inputs.push_back({d.type.type, {}});
    tactic.outputs = {{p.outputs[0].type.type, {}}};
    tactic.estimated_us = is_region(p) ? region_us_ : 10;
    return std::vector{tactic};
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem&, const Tactic&,
                                                        Weights) const override {
    return Error{ErrorCode::internal, "nothing is prepared for a choice"};
  }

 private:
  const double region_us_;
};

size_t covered_with(double region_us) {
  TacticSources sources;
  sources.push_back(std::make_unique<RegionEstimates>(region_us));
  Graph graph = *parse_graph(R"(graph c { input %x : uint8[8]
    %s = constant float32[] {0.5}
    %t = constant float32[] {0.25}
    %f = dequantize(%x, %s)
    %q = quantize(%f, %t) to=uint8
    %g = dequantize(%q, %t)
    %a = act(%g) kind=relu
    %b = act(%a) kind=relu
    output %b
  })");
  const auto network = lower(std::move(graph), sources, {Precision::fp32});
  if (!network.ok() || network->alternatives.size() != 2) {
    ADD_FAILURE() << "two alternatives expected";
    return 0;
  }
  const auto choice = analytic_cover(*network, sources);
  EXPECT_TRUE(choice.ok());
  return choice.ok() ? choice->cover.size() : 0;
}

TEST(AnalyticCover, TakesRegionsOfQuantizedNumbersAloneAndWhereTheyAreFaster) {
  EXPECT_EQ(covered_with(5), 1u) << "the activations are no quantised numbers";
  EXPECT_EQ(covered_with(25), 0u);
}

TEST(AnalyticChoice, WeighsReformatsAgainstWhatTheyGain) {
  EXPECT_EQ(choice_with(2.0), (std::pair{3, size_t{2}}));  // gains 6 us for 4
  EXPECT_EQ(choice_with(4.0), (std::pair{0, size_t{0}}));  // would pay 8 us for 6
}

// Says that "other" of the activations' one problem failed, at second 0.
void fail_the_other(TimingStore& store, FailureKind kind) {
  const Activations a = activations(2.0);
  const NetworkNode& node = a.network.nodes[0];
  for (const Tactic& tactic : node.tactics) {
    if (tactic.id != "other") continue;
    Timing failed;
    failed.tactic = tactic_key(tactic);
    failed.failure = "it failed";
    failed.failure_kind = kind;
    failed.attempts = 1;
    ASSERT_TRUE(store.put("device", node.problem.key(), failed).ok());
  }
}

// What a host step is estimated to take says little; a kernel that takes longer is still one.
TEST(AnalyticChoice, TakesAReferenceOnlyWhereNothingElseServes) {
  const Activations a = activations(1, true);
  const auto chosen = analytic_choice(a.network, a.sources, nullptr);
  ASSERT_TRUE(chosen.ok()) << chosen.error().message;
  for (const Tactic& tactic : chosen->tactics) EXPECT_EQ(tactic.source, "estimates");
}

TEST(AnalyticChoice, LeavesAloneWhatIsKnownToFail) {
  MemoryTimingStore store;
  fail_the_other(store, FailureKind::wrong_result);
  KnownFailures failures(store, "device", 1e9), of_another_device(store, "other device", 1e9);
  EXPECT_EQ(choice_with(2.0, &failures), (std::pair{0, size_t{0}}));
  EXPECT_EQ(choice_with(2.0, &of_another_device), (std::pair{3, size_t{2}}));
}

// A launch that failed may have passed by itself a day later (expiry.h).
TEST(AnalyticChoice, TakesWhatFailedAgainWhereTheFailureIsDueAgain) {
  constexpr double kDay = 24 * 60 * 60;
  MemoryTimingStore store;
  fail_the_other(store, FailureKind::launch);
  KnownFailures soon(store, "device", 0.9 * kDay), later(store, "device", 1.1 * kDay);
  EXPECT_EQ(choice_with(2.0, &soon), (std::pair{0, size_t{0}}));
  EXPECT_EQ(choice_with(2.0, &later), (std::pair{3, size_t{2}}));
  ReadOnlyTimingStore read_only(store);
  KnownFailures untried(read_only, "device", 1.1 * kDay);
  EXPECT_EQ(choice_with(2.0, &untried), (std::pair{0, size_t{0}})) << "nothing may be tried";
}

TEST(AnalyticChoice, NamesALayerOfWhichEveryTacticFailed) {
  const Activations a = activations(2.0);
  MemoryTimingStore store;
  for (const Tactic& tactic : a.network.nodes[0].tactics) {
    Timing failed;
    failed.tactic = tactic_key(tactic);
    failed.failure = "it hangs";
    ASSERT_TRUE(store.put("device", a.network.nodes[0].problem.key(), failed).ok());
  }
  KnownFailures failures(store, "device", 0);
  const auto choice = analytic_choice(a.network, a.sources, &failures);
  ASSERT_FALSE(choice.ok());
  EXPECT_EQ(choice.error().code, ErrorCode::unsupported);
  EXPECT_TRUE(choice.error().message.starts_with("layer '" + a.network.nodes[0].name +
                                                 "': every tactic failed; estimates:"))
      << choice.error().message;
}

TEST(AnalyticChoice, TakesNoWayThatNeedsAMissingReformat) {
  EXPECT_EQ(choice_with({}), (std::pair{0, size_t{0}}));
}

}  // namespace
}  // namespace enginery
