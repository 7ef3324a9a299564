// What the tests of lowering and planning share: a tactic source made for them, so that no device
// is needed, and graphs from text.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "engine/graph/text.h"
#include "engine/passes/fuse_vertical.h"
#include "engine/plan/plan.h"
#include "tuner/analytic_choice.h"

namespace enginery {

inline const Format kLinear{DataType::float32, {}};
inline const Format kNhwc{DataType::float32, {LayoutKind::channels_last, 0}};

// Offers convolutions in nhwc (with a residual in place), views for reshapes, everything else
// linear; refuses what `refuses` says. With `writes_pitched` or `reads_pitched` convolutions do so,
// concats and splits are in nhwc, and all takes as long.
class TestSource final : public TacticSource {
 public:
  std::function<bool(const Problem&)> refuses = [](const Problem&) { return false; };

  Trust trust = Trust::may_be_wrong;
  std::string name = "test";
  bool writes_pitched = false, reads_pitched = false;
  bool overwrites_its_input = false;  // convolutions

  SourceTraits traits() const override {
    return {.name = name, .trust = trust, .serves_pitches = serves_pitches()};
  }
  Result<std::vector<Tactic>> offer(const Problem& p, const std::set<Precision>&) const override {
    if (refuses(p)) return Error{ErrorCode::unsupported, "the test refuses"};
    Tactic t;
    t.source = name;
    t.id = "only";
    bool conv = std::holds_alternative<Convolution>(p.op);
    const bool last = conv || (serves_pitches() && is_one_of<Concat, Split>(p));
    t.inputs.assign(p.inputs.size(), last ? kNhwc : kLinear);
    t.outputs.assign(p.outputs.size(), last ? kNhwc : kLinear);
    t.writes_pitched = conv && writes_pitched;
    t.reads_pitched = conv && reads_pitched;
    t.estimated_us = serves_pitches() ? 10 : 0;
    if (is_reformat(p)) {
      t.inputs = {*p.inputs[0].pinned};
      t.outputs = {*p.outputs[0].pinned};
    }
    if (is_one_of<Concat>(p)) t.estimated_us *= 2;  // moves more than a reformat of a part
    if (conv) t.workspace_bytes = 100;
    if (conv && overwrites_its_input) t.in_place_operand = 0;
    for (const EpilogueStep& s : p.epilogue) {
      if (s.kind == EpilogueKind::add) t.in_place_operand = s.operand;
    }
    if (std::holds_alternative<Reshape>(p.op)) t.view_of = 0;
    return std::vector<Tactic>{t};
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem&, const Tactic&,
                                                        Weights) const override {
    return Error{ErrorCode::unsupported, "nothing runs in this test"};
  }

 private:
  bool serves_pitches() const { return writes_pitched || reads_pitched; }
};

struct Fixture {
  TacticSources sources;
  TestSource* source;
  Fixture() {
    auto made = std::make_unique<TestSource>();
    source = made.get();
    sources.push_back(std::move(made));
  }
  Result<Network> lower_text(const std::string& body) {
    auto graph = parse_graph("graph t {\n" + body + "\n}");
    if (!graph) return graph.error();
    auto fused = fuse_vertical(*graph);
    if (!fused) return fused.error();
    return lower(std::move(*graph), sources, {Precision::fp32});
  }
  Result<Plan> plan_text(const std::string& body) {
    TRY(Network network, lower_text(body));
    TRY(TacticSelection selection, analytic_choice(network, sources));
    return make_plan(network, selection);
  }
};

inline const std::string kConv =
    "strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=1";
inline const std::string kResidual =
    "input %x : float32[1x4x5x5]\n %w = constant float32[4x4x3x3] random(1)\n %c0 = conv(%x, %w) " +
    kConv + "\n %c1 = conv(%c0, %w) " + kConv +
    "\n %a = binary(%c1, %c0) kind=add\n %r = act(%a) kind=relu\n %c2 = conv(%r, %w) " + kConv +
    "\n output %c2";

}  // namespace enginery
