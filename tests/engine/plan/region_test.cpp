// Regions in lowering: where a source's pattern fits the graph, when the place is a region, and
// what the alternative replaces.
#include <algorithm>
#include <set>

#include "engine/tactics/region.h"
#include "tests/engine/plan/plan_support.h"

namespace enginery {
namespace {

// Runs the regions of its patterns, and nothing else.
class PatternSource final : public TacticSource {
 public:
  explicit PatternSource(std::vector<RegionPattern> patterns) : patterns_(std::move(patterns)) {}
  SourceTraits traits() const override {
    return {.name = "pattern", .trust = Trust::may_be_wrong, .takes_regions = true};
  }
  std::vector<RegionPattern> regions() const override { return patterns_; }
  Result<std::vector<Tactic>> offer(const Problem& p, const std::set<Precision>&) const override {
    if (!is_region(p)) return Error{ErrorCode::unsupported, "one operator"};
    Tactic t;
    t.source = "pattern";
    t.id = "whole";
    t.inputs.assign(p.inputs.size(), kLinear);
    t.outputs = {kLinear};
    return std::vector<Tactic>{t};
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem&, const Tactic&,
                                                        Weights) const override {
    return Error{ErrorCode::unsupported, "nothing runs in this test"};
  }

 private:
  const std::vector<RegionPattern> patterns_;
};

const RegionPattern kConvPool{{{is_operator<Convolution>, {}}, {is_operator<Pooling>, {0}}}};
const RegionPattern kConvActPool{
    {{is_operator<Convolution>, {}}, {is_operator<Activation>, {0}}, {is_operator<Pooling>, {1}}}};
const RegionPattern kActPool{{{is_operator<Activation>, {}}, {is_operator<Pooling>, {0}}}};
// x * sigmoid(x) and their kind: a result that two operators read.
const RegionPattern kGate{{{is_operator<Convolution>, {}},
                           {is_operator<Activation>, {0}},
                           {is_operator<Binary>, {0, 1}}}};

const std::string kStem =
    "input %x : float32[1x4x6x6]\n %w = constant float32[4x4x3x3] random(1)\n %c = conv(%x, %w) " +
    kConv;
const std::string kPool =
    " kind=max kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0]\n ";

Network lowered(const std::string& body, std::vector<RegionPattern> patterns) {
  Fixture f;
  f.sources.push_back(std::make_unique<PatternSource>(std::move(patterns)));
  auto network = f.lower_text(body);
  EXPECT_TRUE(network) << network.error().message;
  return network ? std::move(*network) : Network();
}

TEST(Regions, AreAlternativesToTheNodesOfTheirMembers) {
  const Network network = lowered(kStem + "\n %p = pool(%c)" + kPool + "output %p", {kConvPool});
  ASSERT_EQ(network.nodes.size(), 2u);
  ASSERT_EQ(network.alternatives.size(), 1u);
  const Alternative& region = network.alternatives[0];
  EXPECT_EQ(region.replaces, (std::vector<size_t>{0, 1}));
  ASSERT_EQ(region.instead.size(), 1u);
  const NetworkNode& node = region.instead[0];
  EXPECT_EQ(node.name, "c+p");
  EXPECT_EQ(node.inputs, network.nodes[0].inputs);
  EXPECT_EQ(node.outputs, network.nodes[1].outputs);
  EXPECT_TRUE(node.problem.key().find("| region 2 | pool(r0) kind=max") != std::string::npos)
      << node.problem.key();
  EXPECT_EQ(node.problem.inner, (std::vector<TensorType>{{DataType::float32, {1, 4, 6, 6}}}));
  EXPECT_TRUE(node.problem.inputs[1].constant);
  // Who takes no regions was not asked.
  ASSERT_EQ(node.tactics.size(), 1u);
  EXPECT_EQ(node.tactics[0].source, "pattern");
}

const std::string kChain =
    "input %x : float32[2x4]\n input %z : float32[2x4]\n %a = unary(%x) kind=exp\n"
    "%b = binary(%z, %a) kind=sub\n %c = binary(%b, %z) kind=mul\n %d = act(%c) kind=relu\n"
    "output %d";

// A group that is no epilogue needs no pattern.
TEST(Regions, AreMadeOfChains) {
  const Network network = lowered(kChain, {});
  ASSERT_EQ(network.nodes.size(), 1u);
  const NetworkNode& node = network.nodes[0];
  EXPECT_EQ(node.name, "a+b+c+d");
  EXPECT_TRUE(node.problem.key().find("| binary(1 r0) kind=sub | binary(r1 1) kind=mul "
                                      "| act(r2) kind=relu") != std::string::npos)
      << node.problem.key();
  EXPECT_EQ(node.inputs.size(), 2u);
  ASSERT_EQ(node.tactics.size(), 1u);
  EXPECT_EQ(node.tactics[0].source, "pattern");
}

// An epilogue's operand comes from outside.
TEST(Regions, AreMadeOfChainsWithASquare) {
  const Network network = lowered(
      "input %x : float32[2x4]\n input %z : float32[2x4]\n %a = act(%x) kind=sigmoid\n"
      "%b = binary(%a, %a) kind=mul\n %c = binary(%b, %z) kind=mul\n output %c",
      {});
  ASSERT_EQ(network.nodes.size(), 1u);
  EXPECT_TRUE(network.nodes[0].problem.key().find("| binary(r0 r0) kind=mul | binary(r1 1)") !=
              std::string::npos)
      << network.nodes[0].problem.key();
  EXPECT_EQ(network.nodes[0].inputs.size(), 2u);
}

// Where nobody takes the region, what can be fused without one still is.
TEST(Regions, LeaveEpiloguesOfAChainThatNobodyTakes) {
  Fixture f;
  const auto network = f.lower_text(kChain);
  ASSERT_TRUE(network) << network.error().message;
  ASSERT_EQ(network->nodes.size(), 2u);
  EXPECT_EQ(network->nodes[0].name, "a");
  EXPECT_EQ(network->nodes[1].name, "b+c+d");
  EXPECT_EQ(network->nodes[1].problem.epilogue.size(), 2u);
}

// Two of its members are one node of the network: a group.
TEST(Regions, TakeWholeGroups) {
  const Network network = lowered(
      kStem + "\n %r = act(%c) kind=relu\n %p = pool(%r)" + kPool + "output %p", {kConvActPool});
  ASSERT_EQ(network.nodes.size(), 2u);
  ASSERT_EQ(network.alternatives.size(), 1u);
  EXPECT_EQ(network.alternatives[0].replaces, (std::vector<size_t>{0, 1}));
  EXPECT_EQ(operator_names(network.alternatives[0].instead[0].problem), "conv+act+pool");
}

TEST(Regions, LeaveTheRestOfAGroupToItself) {
  const Network network = lowered(
      kStem + "\n %r = act(%c) kind=relu\n %p = pool(%r)" + kPool + "output %p", {kActPool});
  ASSERT_EQ(network.alternatives.size(), 1u);
  const std::vector<NetworkNode>& instead = network.alternatives[0].instead;
  ASSERT_EQ(instead.size(), 2u);
  EXPECT_EQ(operator_names(instead[0].problem), "conv");
  EXPECT_EQ(operator_names(instead[1].problem), "act+pool");
  EXPECT_EQ(instead[1].inputs, instead[0].outputs);
  const auto cut = network.cut({0});
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut->nodes.size(), 2u);
}

TEST(Regions, MayReadOneResultTwice) {
  const Network network = lowered(
      kStem + "\n %s = act(%c) kind=sigmoid\n %y = binary(%c, %s) kind=mul\n output %y", {kGate});
  ASSERT_EQ(network.alternatives.size(), 1u);
  const Problem& p = network.alternatives[0].instead[0].problem;
  ASSERT_EQ(p.rest.size(), 2u);
  EXPECT_EQ(p.rest[1].operands, (std::vector<int>{2, 3}));
}

// The second convolution is found from the sum: nothing leads to it from the first one.
const RegionPattern kConvsJoined{{{is_operator<Convolution>, {}},
                                  {is_operator<Convolution>, {}},
                                  {is_operator<Binary>, {0, 1}},
                                  {is_operator<Activation>, {2}}}};

TEST(Regions, FindWhatALaterMemberReads) {
  const Network network =
      lowered("input %z : float32[1x4x6x6]\n " + kStem + "\n %d = conv(%z, %w) " + kConv +
                  "\n %s = binary(%c, %d) kind=add\n %y = act(%s) kind=relu\n "
                  "output %y",
              {kConvsJoined});
  ASSERT_EQ(network.alternatives.size(), 1u) << "the same nodes the other way round are no other";
  ASSERT_EQ(network.alternatives[0].instead.size(), 1u);
  const Problem& p = network.alternatives[0].instead[0].problem;
  EXPECT_EQ(operator_names(p), "conv+conv+binary+act");
  EXPECT_EQ(p.inputs.size(), 3u) << "the weights are one constant";
  EXPECT_EQ(p.rest[1].operands, (std::vector<int>{3, 4}));
  EXPECT_EQ(network.cut({0})->nodes.size(), 1u);
}

const RegionPattern kQuantizedConv{
    {{is_operator<Dequantize>, {}}, {is_operator<Convolution>, {0}}, {is_operator<Quantize>, {1}}}};

// Two convolutions of one quantised value, with quantised weights.
const std::string kTwoOfOne =
    "input %x : uint8[1x4x6x6]\n %sx = constant float32[] {0.5}\n %zx = constant uint8[] {0}\n "
    "%d = dequantize(%x, %sx, %zx)\n %w = constant int8[4x4x3x3] fill(3)\n %sw = constant "
    "float32[4] {1, 2, 3, 4}\n %zw = constant int8[4] {0, 0, 0, 0}\n %v = dequantize(%w, %sw, "
    "%zw) axis=0\n %a = conv(%d, %v) " +
    kConv + "\n %b = conv(%d, %v) " + kConv +
    "\n %qa = quantize(%a, %sx) to=uint8\n %qb = quantize(%b, %sx) to=uint8\n output %qa\n "
    "output %qb";

// What dequantises runs in each region; where both are in force nobody else reads it.
TEST(Regions, DequantizeForThemselves) {
  const Network network = lowered(kTwoOfOne, {kQuantizedConv});
  ASSERT_EQ(network.nodes.size(), 5u) << "the weights are constants";
  ASSERT_EQ(network.alternatives.size(), 2u);
  for (const Alternative& region : network.alternatives) {
    EXPECT_EQ(region.replaces.size(), 2u) << "what dequantises stays for the other region";
    ASSERT_EQ(region.instead.size(), 1u);
    EXPECT_EQ(operator_names(region.instead[0].problem), "dequantize+dequantize+conv+quantize");
  }
  EXPECT_EQ(network.cut({0})->nodes.size(), 4u);
  EXPECT_EQ(network.cut({0, 1})->nodes.size(), 2u);
}

// A sum of two quantised values, the second of which others read, too.
const std::string kSumOfTwo =
    "input %x : uint8[1x4x6x6]\n input %z : uint8[1x4x6x6]\n %s = constant float32[] {0.5}\n %f = "
    "dequantize(%x, %s)\n %g = dequantize(%z, %s)\n %a = binary(%f, %g) kind=add\n %q = "
    "quantize(%a, %s) to=uint8\n %r = act(%g) kind=relu\n output %q\n output %r";
const std::vector<RegionPattern::Place> kSumPlaces{
    {is_operator<Dequantize>, {}}, {is_operator<Binary>, {0}}, {is_operator<Quantize>, {1}}};

TEST(Regions, TakeTheIntegersOfTheirOperandsWhereTheyAskForThem) {
  const Network network =
      lowered(kSumOfTwo, {{kSumPlaces, RegionPattern::Operands::dequantized}, {kSumPlaces}});
  std::set<std::string> seen;
  for (const Alternative& region : network.alternatives) {
    const Problem& p = region.instead[0].problem;
    seen.insert(operator_names(p));
    const bool in_float = operator_names(p) == "dequantize+add+quantize" ||
                          operator_names(p) == "dequantize+binary+quantize";
    EXPECT_EQ(p.rest.size(), in_float ? 2u : 3u);
    if (!in_float) {
      EXPECT_EQ(p.rest[0].operands.size(), 2u) << "the other operand, dequantised in the region";
    }
  }
  EXPECT_EQ(seen.size(), 2u) << "in float and as integers";
}

// Their values never choose a tactic, however few they are; a zero point does.
TEST(Regions, TakeQuantizedWeightsAsTheyAre) {
  const Network network = lowered(kTwoOfOne, {kQuantizedConv});
  ASSERT_EQ(network.alternatives.size(), 2u);
  const NetworkNode& node = network.alternatives[0].instead[0];
  const std::string key = node.problem.key();
  EXPECT_NE(key.find("w:int8[4x4x3x3]"), std::string::npos) << key;
  EXPECT_EQ(key.find("int8[4]"), std::string::npos) << "zero points of 0 stay behind: " << key;
  const std::vector<const Tensor*> weights = network.weights(node);
  const auto is_int8 = [](const Tensor* t) { return t && t->type() == DataType::int8; };
  EXPECT_EQ(std::ranges::count_if(weights, is_int8), 1);
  // Everybody else multiplies the floats that they stand for.
  EXPECT_EQ(network.weights(network.nodes[1])[1]->data<float>().back(), 12);
}

// So does a region that begins with the quantisation of what it reads; its result nobody else has.
TEST(Regions, MayQuantizeWhatTheyRead) {
  const std::string graph =
      "input %x : float32[1x4x6x6]\n %s = constant float32[] {0.5}\n %i = quantize(%x, %s) "
      "to=int8\n %d = dequantize(%i, %s)\n %w = constant int8[4x4x3x3] fill(3)\n %v = "
      "dequantize(%w, %s)\n %a = conv(%d, %v) " +
      kConv + "\n %q = quantize(%a, %s) to=uint8\n output %q";
  const RegionPattern pattern{{{is_operator<Quantize>, {}},
                               {is_operator<Dequantize>, {0}},
                               {is_operator<Convolution>, {1}},
                               {is_operator<Quantize>, {2}}}};
  const Network network = lowered(graph, {pattern});
  ASSERT_EQ(network.alternatives.size(), 1u);
  const NetworkNode& node = network.alternatives[0].instead[0];
  EXPECT_EQ(operator_names(node.problem), "quantize+dequantize+dequantize+conv+quantize");
  EXPECT_NE(node.problem.key().find("w:int8[4x4x3x3]"), std::string::npos) << node.problem.key();
  EXPECT_EQ(network.cut({0})->nodes.size(), 1u);
  EXPECT_TRUE(lowered(graph + "\n output %i", {pattern}).alternatives.empty());
}

struct NoRegion {
  std::string name, body;
  RegionPattern pattern;
};

const NoRegion kNoRegions[] = {
    {"a_result_that_is_read_outside",
     kStem + "\n %p = pool(%c)" + kPool + "%t = act(%c) kind=tanh\n output %p\n output %t",
     kConvPool},
    {"a_result_that_is_an_output", kStem + "\n %p = pool(%c)" + kPool + "output %p\n output %c",
     kConvPool},
    {"another_order", kStem + "\n %p = pool(%x)" + kPool + "output %p\n output %c", kConvPool},
    {"a_pattern_of_one", kStem + "\n output %c", {{{is_operator<Convolution>, {}}}}},
    {"a_sum_of_one_convolution",
     "input %z : float32[1x4x6x6]\n " + kStem +
         "\n %s = binary(%c, %z) kind=add\n %y = act(%s) kind=relu\n output %y",
     kConvsJoined},
    {"a_sum_that_ends_a_graph",
     "input %z : float32[1x4x6x6]\n " + kStem + "\n %d = conv(%z, %w) " + kConv +
         "\n %s = binary(%c, %d) kind=add\n output %s",
     kConvsJoined},
    {"a_gate_of_something_else",
     kStem + "\n %s = act(%c) kind=sigmoid\n %y = binary(%x, %s) kind=mul\n output %y", kGate},
};

void PrintTo(const NoRegion& none, std::ostream* out) {
  *out << none.name;
}

class NoRegions : public testing::TestWithParam<NoRegion> {};

TEST_P(NoRegions, AreProposed) {
  EXPECT_TRUE(lowered(GetParam().body, {GetParam().pattern}).alternatives.empty());
}

INSTANTIATE_TEST_SUITE_P(Graphs, NoRegions, testing::ValuesIn(kNoRegions),
                         [](const auto& tested) { return tested.param.name; });

// What nobody but the reference runs is no alternative; neither is one place twice.
TEST(Regions, AreOfferedOnce) {
  const std::string body = kStem + "\n %p = pool(%c)" + kPool + "output %p";
  EXPECT_EQ(lowered(body, {kConvPool, kConvPool}).alternatives.size(), 1u);
}

}  // namespace
}  // namespace enginery
