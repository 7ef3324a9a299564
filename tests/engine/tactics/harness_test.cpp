// The tests' own tools: the harness notices what a wrong tactic does, and the list of problems says
// what it means to say. Without this a suite could be green because it does not look.
#include "tests/support/tactic_harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/device/sku_table.h"
#include "tests/support/comparison.h"
#include "tests/support/problem_list.h"
#include "tests/support/problem_text.h"

namespace enginery {
namespace {

// What a made-up tactic does beside copying its input to its output.
enum class Misdeed { none, writes_after, writes_before, changes_input, overruns_workspace };

class MisbehavingTactic final : public PreparedTactic {
 public:
  explicit MisbehavingTactic(Misdeed misdeed) : misdeed_(misdeed) {}
  Status enqueue(Stream&, const Arguments& a) const override {
    const auto* in = static_cast<const float*>(a.inputs[0]);
    auto* out = static_cast<float*>(a.outputs[0]);
    for (int i = 0; i < kElements; ++i) out[i] = in[i];
    if (misdeed_ == Misdeed::writes_after) out[kElements] = 1;
    if (misdeed_ == Misdeed::writes_before) out[-1] = 1;
    if (misdeed_ == Misdeed::changes_input) const_cast<float*>(in)[3] += 1;
    if (misdeed_ == Misdeed::overruns_workspace)
      static_cast<char*>(a.workspace)[kWorkspaceBytes] = 1;
    return {};
  }
  int64_t weight_bytes() const override { return 0; }
  int64_t workspace_bytes() const override { return kWorkspaceBytes; }

  static constexpr int kElements = 12;
  static constexpr int64_t kWorkspaceBytes = 64;

 private:
  const Misdeed misdeed_;
};

class MisbehavingSource final : public TacticSource {
 public:
  explicit MisbehavingSource(Misdeed misdeed) : misdeed_(misdeed) {}
  SourceTraits traits() const override { return {"misbehaving", Trust::may_be_wrong}; }
  Result<std::vector<Tactic>> offer(const Problem&, const std::set<Precision>&) const override {
    Tactic tactic;
    tactic.source = "misbehaving";
    tactic.inputs.resize(1);
    tactic.outputs.resize(1);
    return std::vector{tactic};
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem&, const Tactic&,
                                                        Weights) const override {
    return std::shared_ptr<const PreparedTactic>(std::make_shared<MisbehavingTactic>(misdeed_));
  }

 private:
  const Misdeed misdeed_;
};

// What the harness says of one run: "" where it sees nothing wrong.
std::string verdict(Misdeed misdeed) {
  const std::vector<LocalSku> skus = local_skus();
  auto device = open_device(skus.back().name, {}).value();
  auto stream = device->create_stream().value();
  const Problem p = *parse_problem("identity | float32[3x4]");
  const MisbehavingSource source(misdeed);
  const Tactic tactic = source.offer(p, {})->front();
  std::mt19937_64 random(1);
  ProblemData data;
  fill_random(p, random, data);
  TacticRun run(*device, *stream);
  EXPECT_TRUE(run.prepare(source, p, tactic, data, OperandPlace::separate).ok());
  EXPECT_TRUE(run.launch().ok());
  auto outputs = run.collect();
  if (!outputs.ok()) return outputs.error().message;
  EXPECT_EQ(relative_error((*outputs)[0], data.tensors[0]), 0);
  return "";
}

TEST(TacticRuns, NoticeWhatATacticMustNotDo) {
  EXPECT_EQ(verdict(Misdeed::none), "");
  EXPECT_EQ(verdict(Misdeed::writes_after), "wrote 1 bytes after output 0");
  EXPECT_EQ(verdict(Misdeed::writes_before), "wrote 4 bytes before output 0");
  EXPECT_EQ(verdict(Misdeed::changes_input), "changed input 0");
  EXPECT_EQ(verdict(Misdeed::overruns_workspace), "wrote 1 bytes after the workspace");
}

TEST(RandomInputs, AreRepeatableAndFitTheOperator) {
  const auto inputs = [](const char* text, uint64_t seed) {
    std::mt19937_64 random(seed);
    ProblemData data;
    fill_random(*parse_problem(text), random, data);
    return data.tensors;
  };
  const char* sum = "binary kind=add | float32[64] w:float32[64]";
  const auto values = [](const Tensor& t) {
    return std::vector<float>(t.data<float>().begin(), t.data<float>().end());
  };
  EXPECT_EQ(values(inputs(sum, 5)[0]), values(inputs(sum, 5)[0]));
  EXPECT_NE(values(inputs(sum, 5)[0]), values(inputs(sum, 6)[0]));
  EXPECT_NE(values(inputs(sum, 5)[0]), values(inputs(sum, 5)[1]));
  for (float v : values(inputs("unary kind=sqrt | float32[64]", 1)[0])) EXPECT_GE(v, 0.5f);
  for (float v : values(inputs("binary kind=div | float32[64] float32[64]", 1)[1]))
    EXPECT_GE(v, 0.5f) << "a divisor";
  const Tensor starts = inputs("slice | float32[6x5] int64[1]={1} int64[1]={3}", 1)[1];
  EXPECT_EQ(to_int64s(starts), std::vector<int64_t>{1}) << "a constant keeps its value";
}

TEST(Tolerance, IsThatOfTheArithmetic) {
  Tactic tactic;
  EXPECT_EQ(tolerance(tactic), 1e-4);
  tactic.id = "wino:jit_wino_4x3:avx512_core";
  EXPECT_EQ(tolerance(tactic), 1e-3);
  tactic.compute = Precision::fp16;
  EXPECT_EQ(tolerance(tactic), 1e-2);
  tactic.compute = Precision::tf32;
  EXPECT_EQ(tolerance(tactic), 1e-2);
}

TEST(ProblemRows, HaveANameOfTheirOwnAndParse) {
  std::set<std::string_view> names;
  for (const ProblemRow& row : conformance_problems()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " twice";
    const auto p = parse_problem(row.text);
    EXPECT_TRUE(p.ok()) << row.name;
    EXPECT_EQ(row.required.find_first_not_of("KO-/"), std::string_view::npos) << row.name;
    EXPECT_EQ(std::ranges::count(row.required, '/'), 1) << row.name;
  }
  EXPECT_GT(names.size(), 150u);
}

TEST(ProblemRows, SayWhichSourcesMustOffer) {
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(required_sources({"", "KO/K", ""}, DeviceKind::cpu), (Names{"kernel", "onednn"}));
  EXPECT_EQ(required_sources({"", "KO/K", ""}, DeviceKind::cuda), Names{"kernel"});
  EXPECT_EQ(required_sources({"", "O/-", ""}, DeviceKind::cpu), Names{"onednn"});
  EXPECT_EQ(required_sources({"", "O/-", ""}, DeviceKind::cuda), Names{});
  size_t of_ours = 0, of_onednn = 0, on_gpus = 0;
  for (const ProblemRow& row : conformance_problems()) {
    of_ours += row.required.find('K') < row.required.find('/');
    of_onednn += row.required.find('O') != std::string_view::npos;
    on_gpus += row.required.ends_with('K');
  }
  // Fewer rows than these: somebody made a failing row pass by asking for less.
  EXPECT_GE(of_ours, 116u);
  EXPECT_GE(of_onednn, 94u);
  EXPECT_GE(on_gpus, 174u);
}

}  // namespace
}  // namespace enginery
