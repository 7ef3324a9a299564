// What our GPU kernels offer and how it is launched is pinned: tactic ids and formats are in
// catalogs and engine files, and engine files hold compiled code that today's launches must fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/engine/tactics/cuda/card.h"
#include "tests/support/offer_text.h"
#include "tests/support/problem_list.h"

namespace enginery {
namespace {

using test::card_of;

// The parts of a plan that code in engine files depends on: entries, grids, shared memory, where
// pointers go, workspace.
std::string launches_of(const KernelPlan& plan) {
  std::string text =
      std::to_string(plan.workspace_bytes) + "," + std::to_string(plan.constants.size());
  for (const KernelLaunch& l : plan.launches) {
    text += ";" + l.entry;
    for (unsigned size : l.grid) text += "," + std::to_string(size);
    text += "," + std::to_string(l.threads) + "," + std::to_string(l.shared_bytes) + "," +
            std::to_string(l.arguments.size());
    for (const PointerSlot& s : l.slots)
      text += "," + std::to_string(s.offset) + ":" + std::to_string(static_cast<int>(s.source)) +
              ":" + std::to_string(s.index);
  }
  return text;
}

// One line a problem and SM: how many tactics, and a digest of their keys and launches, in no
// order; then each id with the SMs that have it.
std::string offers_text() {
  std::map<std::string, std::string> ids;
  std::string out;
  for (int sm : {61, 75, 80, 90}) {
    const DeviceInfo info = card_of(sm);
    const KernelContext context{
        info, sm_limits(sm), {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16}};
    for (const ProblemRow& row : conformance_rows()) {
      const Problem problem = parse_problem(row.text).value();
      const auto tactics = offer_kernels(problem, context, true);
      std::vector<std::string> lines;
      for (const Tactic& tactic : tactics.ok() ? *tactics : std::vector<Tactic>()) {
        lines.push_back(tactic_key(tactic) + " " +
                        launches_of(plan_kernel(problem, tactic, context).value()));
        std::string& sms = ids[tactic.id];
        const std::string mine = " sm" + std::to_string(sm);
        if (!sms.ends_with(mine)) sms += mine;
      }
      std::sort(lines.begin(), lines.end());
      std::string all;
      for (const std::string& line : lines) all += line + "\n";
      out += "sm" + std::to_string(sm) + " " + std::string(row.name) + ": " +
             std::to_string(lines.size()) + " " + sha256(all).hex().substr(0, 12) + "\n";
    }
  }
  for (const auto& [id, sms] : ids) out += id + ":" + sms + "\n";
  return out;
}

TEST(GpuKernelOffers, AreThoseOfTheGoldenFile) {
  expect_golden(offers_text(), "tests/engine/tactics/golden/kernel-gpu.txt");
}

TEST(GpuKernelOffers, HaveEachIdOnceForItsFormats) {
  const DeviceInfo info = card_of(90);
  const KernelContext context{
      info, sm_limits(90), {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16}};
  for (const ProblemRow& row : conformance_rows()) {
    const Problem problem = parse_problem(row.text).value();
    const auto tactics = offer_kernels(problem, context, true);
    if (!tactics.ok()) continue;
    std::set<std::string> keys;
    for (const Tactic& tactic : *tactics)
      EXPECT_TRUE(keys.insert(tactic_key(tactic)).second) << row.name << " " << tactic_key(tactic);
  }
}

// What exporters leave of a rotary embedding of whole heads: nothing to launch.
TEST(GpuKernelOffers, LeaveTensorsWithoutElementsToTheReference) {
  const DeviceInfo info = card_of(90);
  const KernelContext context{info, sm_limits(90), {Precision::fp32}};
  for (const char* text :
       {"concat axis=1 | float32[2x4] float32[2x0]", "act kind=relu | float32[2x0x4]",
        "slice | float32[2x4] int64[1]={4} int64[1]={9} int64[1]={1} int64[1]={1}"}) {
    const auto offered = offer_kernels(parse_problem(text).value(), context, true);
    ASSERT_FALSE(offered.ok()) << text;
    EXPECT_EQ(offered.error().code, ErrorCode::unsupported) << text;
  }
}

TEST(GpuKernelOffers, AreCutWhereTheAnalyticModelRulesThemOut) {
  const DeviceInfo info = card_of(90);
  const KernelContext context{
      info, sm_limits(90), {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16}};
  const Problem problem =
      parse_problem(
          "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | "
          "float32[1x256x14x14] w:float32[256x256x3x3]")
          .value();
  const auto all = offer_kernels(problem, context, true);
  const auto promising = offer_kernels(problem, context, false);
  ASSERT_TRUE(all.ok() && promising.ok());
  EXPECT_LT(promising->size(), all->size());
  std::map<Precision, size_t> count;
  std::map<Precision, double> best;
  for (const Tactic& t : *promising) {
    EXPECT_LE(++count[t.compute], 16u) << tactic_key(t);
    EXPECT_LE(t.estimated_us, 12 * best.try_emplace(t.compute, t.estimated_us).first->second);
  }
}

// A test's own family is asked after those of the list, and plans what it offered.
Status offer_extra(const Problem& problem, const KernelContext&, std::vector<Tactic>& out) {
  if (out.empty()) return refusal("asked before the others");
  out.push_back(make_kernel_tactic(problem, "extra/one"));
  return {};
}
Result<KernelPlan> plan_extra(const Problem&, const Tactic& tactic, const KernelContext&) {
  if (tactic.id != "extra/one") return no_variant(tactic);
  KernelPlan plan;
  plan.workspace_bytes = 77;
  return plan;
}

TEST(KernelContext, TakesFamiliesThatTheProductDoesNotHave) {
  static constexpr KernelFamily kExtra[] = {{"extra", offer_extra, plan_extra}};
  const DeviceInfo info = card_of(90);
  KernelContext context{info, sm_limits(90), {Precision::fp32}};
  const Problem problem = parse_problem("act kind=relu | float32[1x32x6x6]").value();
  Tactic extra = make_kernel_tactic(problem, "extra/one");
  EXPECT_EQ(plan_kernel(problem, extra, context).error().code, ErrorCode::incompatible);
  context.more_families = kExtra;
  const auto tactics = offer_kernels(problem, context, true);
  ASSERT_TRUE(tactics.ok());
  EXPECT_TRUE(std::any_of(tactics->begin(), tactics->end(),
                          [](const Tactic& t) { return t.id == "extra/one"; }));
  EXPECT_EQ(plan_kernel(problem, extra, context)->workspace_bytes, 77);
  extra.id = "extra/two";
  EXPECT_EQ(plan_kernel(problem, extra, context).error().code, ErrorCode::incompatible);
}

}  // namespace
}  // namespace enginery
