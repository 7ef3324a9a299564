// Siblings: which convolutions of one value are offered as one, with which problems and constants,
// and where these stand in the network.
#include "engine/plan/siblings.h"

#include <algorithm>

#include "tests/engine/plan/plan_support.h"

namespace enginery {
namespace {

const std::string kPointwise =
    "strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] groups=1";
const std::string kRelu = " kind=relu\n ";

std::string weights_text(const std::string& name, const std::string& dims) {
  return "%" + name + " = constant float32[" + dims + "] random(" + std::to_string(name.back()) +
         ")\n ";
}

// Three convolutions of %x with 2, 3 and 5 channels, of which the second has a bias, and what reads
// their activations: a convolution each, or a concat.
const std::string kThree = "input %x : float32[1x4x5x5]\n " + weights_text("wa", "2x4x1x1") +
                           weights_text("wb", "3x4x1x1") + weights_text("wc", "5x4x1x1") +
                           weights_text("bias", "3") + "%a = conv(%x, %wa) " + kPointwise +
                           "\n %b = conv(%x, %wb, %bias) " + kPointwise + "\n %c = conv(%x, %wc) " +
                           kPointwise + "\n %ra = act(%a)" + kRelu + "%rb = act(%b)" + kRelu +
                           "%rc = act(%c)" + kRelu;
const std::string kBehindB = weights_text("v", "2x3x3x3") + "%b3 = conv(%rb, %v) " + kConv + "\n ";
const std::string kBehindC = weights_text("u", "2x5x3x3") + "%c3 = conv(%rc, %u) " + kConv + "\n ";
const std::string kInception =
    kThree + kBehindB + kBehindC + "%y = concat(%ra, %b3, %c3) axis=1\n output %y";

// Two convolutions of %x, with what stands in the second place.
std::string two_of_one(const std::string& second, const std::string& rest) {
  return "input %x : float32[1x4x5x5]\n input %z : float32[1x4x5x5]\n " +
         weights_text("w", "4x4x1x1") + weights_text("v", "4x4x3x3") + "%a = conv(%x, %w) " +
         kPointwise + "\n %b = " + second + "\n " + rest;
}
const std::string kSecond = "conv(%x, %w) " + kPointwise;
const std::string kBothActivated = "%ra = act(%a)" + kRelu + "%rb = act(%b)" + kRelu;
// A convolution of its own reads each, so that nothing else joins their groups.
std::string read_both(const std::string& a, const std::string& b) {
  return "%ya = conv(%" + a + ", %v) " + kConv + "\n %yb = conv(%" + b + ", %v) " + kConv +
         "\n output %ya\n output %yb";
}
const std::string kRead = read_both("ra", "rb");

Network network_of(Fixture& f, const std::string& body) {
  auto network = f.lower_text(body);
  EXPECT_TRUE(network) << network.error().message << "\n" << body;
  return network ? std::move(*network) : Network();
}
Network network_of(const std::string& body) {
  Fixture f;
  return network_of(f, body);
}

std::string names_of(const std::vector<NetworkNode>& nodes) {
  std::string out;
  for (const NetworkNode& node : nodes) out += (out.empty() ? "" : " ") + node.name;
  return out;
}

std::vector<float> floats(const Tensor& t) {
  const auto data = t.data<float>();
  return {data.begin(), data.end()};
}

TEST(Siblings, AreOfferedAsOneConvolutionAndASplit) {
  const Network network = network_of(kThree + "%y = concat(%ra, %rb, %rc) axis=1\n output %y");
  ASSERT_EQ(network.alternatives.size(), 1u);
  const Alternative& merged = network.alternatives[0];
  EXPECT_EQ(merged.replaces, (std::vector<size_t>{0, 1, 2}));
  EXPECT_TRUE(merged.leads);
  ASSERT_EQ(names_of(merged.instead), "ra&rb&rc ra&rb&rc.split");
  const NetworkNode &convolution = merged.instead[0], &split = merged.instead[1];
  EXPECT_EQ(split.inputs, convolution.outputs);
  EXPECT_EQ(network.graph.value(convolution.outputs[0]).type.dims, (Dims{1, 10, 5, 5}));
  ASSERT_EQ(split.outputs.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(split.outputs[i], network.nodes[i].outputs[0]);
  EXPECT_FALSE(convolution.tactics.empty() || split.tactics.empty());
}

TEST(Siblings, HaveTheirWeightsBehindEachOtherAndZerosForABiasThatOneLacks) {
  const Network network = network_of(kInception);
  ASSERT_FALSE(network.alternatives.empty());
  const auto merged = network.weights(network.alternatives[0].instead[0]);
  ASSERT_EQ(merged.size(), 3u);
  ASSERT_TRUE(merged[1] && merged[2]);
  EXPECT_EQ(merged[1]->dims(), (Dims{10, 4, 1, 1}));
  EXPECT_EQ(merged[2]->dims(), Dims{10});
  std::vector<float> weights, biases;
  for (size_t n = 0; n < 3; ++n) {
    const auto own = network.weights(network.nodes[n]);
    const std::vector<float> w = floats(*own[1]);
    weights.insert(weights.end(), w.begin(), w.end());
    const std::vector<float> none(static_cast<size_t>(own[1]->dims()[0]), 0.0f);
    const std::vector<float> b = own.size() > 2 ? floats(*own[2]) : none;
    biases.insert(biases.end(), b.begin(), b.end());
  }
  EXPECT_EQ(floats(*merged[1]), weights);
  EXPECT_EQ(floats(*merged[2]), biases);
}

// What a person would write by hand has the same timings.
TEST(Siblings, HaveTheKeysOfAGraphThatIsMergedByHand) {
  const Network network = network_of(kInception);
  const Network by_hand =
      network_of("input %x : float32[1x4x5x5]\n " + weights_text("w", "10x4x1x1") +
                 weights_text("bias", "10") + "%m = conv(%x, %w, %bias) " + kPointwise +
                 "\n %r = act(%m)" + kRelu + "%ra, %rb, %rc = split(%r) axis=1 sizes=[2,3,5]\n " +
                 kBehindB + kBehindC + "%y = concat(%ra, %b3, %c3) axis=1\n output %y");
  ASSERT_FALSE(network.alternatives.empty());
  const auto cut = network.cut({0});
  ASSERT_TRUE(cut.ok());
  ASSERT_EQ(cut->nodes.size(), by_hand.nodes.size());
  for (size_t n = 0; n < cut->nodes.size(); ++n)
    EXPECT_EQ(offer_key(cut->nodes[n]), offer_key(by_hand.nodes[n]));
}

// A part of a concat can be written where it belongs.
TEST(Siblings, AreAlsoOfferedWithoutThoseThatAConcatReads) {
  const Network network = network_of(kInception);
  ASSERT_EQ(network.alternatives.size(), 2u);
  EXPECT_EQ(network.alternatives[0].replaces, (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(network.alternatives[1].replaces, (std::vector<size_t>{1, 2}));
  EXPECT_EQ(names_of(network.alternatives[1].instead), "rb&rc rb&rc.split");
  EXPECT_EQ(network.cut({0, 1}).error().code, ErrorCode::incompatible);
  const Network one_apart =
      network_of(kThree + kBehindC + "%y = concat(%ra, %rb, %c3) axis=1\n output %y");
  EXPECT_EQ(one_apart.alternatives.size(), 1u) << "one alone is no sibling";
}

// Whether each value is there before it is read.
bool is_in_order(const Network& network) {
  std::set<ValueId> made(network.graph.inputs().begin(), network.graph.inputs().end());
  return std::ranges::all_of(network.nodes, [&](const NetworkNode& node) {
    const bool there = std::ranges::all_of(node.inputs, [&](ValueId v) {
      return v == kNoValue || network.graph.constant(v) || made.contains(v);
    });
    made.insert(node.outputs.begin(), node.outputs.end());
    return there;
  });
}

// The bias, an addition of its own, puts the second behind what reads the first.
TEST(Siblings, StandWhereTheFirstOfThemStood) {
  const Network network = network_of(two_of_one(
      kSecond, weights_text("bias", "4x1x1") + "%ra = act(%a)" + kRelu +
                   "%d = binary(%b, %bias) kind=add\n %rb = act(%d)" + kRelu +
                   "%c = conv(%ra, %v) " + kConv + "\n %y = concat(%c, %rb) axis=1\n output %y"));
  EXPECT_EQ(names_of(network.nodes), "a+ra c b+d+rb y");
  ASSERT_EQ(network.alternatives.size(), 1u);
  const auto cut = network.cut({0});
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(names_of(cut->nodes), "ra&rb ra&rb.split c y");
  EXPECT_TRUE(is_in_order(*cut));
}

// Covers in records name alternatives by their indices.
TEST(Siblings, StandBehindAllOtherAlternatives) {
  Fixture f;
  auto second = std::make_unique<TestSource>();
  second->name = "second";
  second->refuses = [](const Problem& p) { return !p.epilogue.empty(); };
  f.sources.push_back(std::move(second));
  const Network network = network_of(f, two_of_one(kSecond, kBothActivated + kRead));
  std::vector<bool> leads;
  for (const Alternative& alternative : network.alternatives) leads.push_back(alternative.leads);
  EXPECT_EQ(leads, (std::vector<bool>{false, false, true}));
}

TEST(Siblings, LeaveNoNodesInTheGraph) {
  const Network network = network_of(kInception);
  EXPECT_EQ(network.graph.live_node_count(), 9);
  EXPECT_EQ(network.graph.topological_order().size(), 9u);
  EXPECT_TRUE(verify(network.graph).ok());
}

struct NoSiblings {
  std::string name, body;
};

// Quantised weights, in lowering floats of integers.
const std::string kQuantizedWeights =
    "input %x : float32[1x4x5x5]\n %q = constant int8[4x4x1x1] fill(3)\n %s = constant float32[] "
    "{0.5}\n %w = dequantize(%q, %s)\n %a = conv(%x, %w) " +
    kPointwise + "\n %b = conv(%x, %w) " + kPointwise + "\n " + weights_text("v", "4x4x3x3") +
    kBothActivated + kRead;
const std::string kTwoGroups =
    "strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] "
    "groups=2";

const NoSiblings kNoSiblings[] = {
    {"another_activation",
     two_of_one(kSecond, "%ra = act(%a)" + kRelu + "%rb = act(%b) kind=tanh\n " + kRead)},
    {"one_without_activation", two_of_one(kSecond, "%ra = act(%a)" + kRelu + read_both("ra", "b"))},
    {"other_kernels", two_of_one("conv(%x, %v) " + kConv, kBothActivated + kRead)},
    {"other_strides",
     two_of_one("conv(%x, %w) strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] "
                "groups=1",
                kBothActivated + kRead)},
    {"another_value", two_of_one("conv(%z, %w) " + kPointwise, kBothActivated + kRead)},
    {"one_behind_the_other", two_of_one("conv(%a, %w) " + kPointwise, read_both("a", "b"))},
    {"a_sum_in_one", two_of_one(kSecond, "%s = binary(%b, %z) kind=add\n %ra = act(%a)" + kRelu +
                                             "%rb = act(%s)" + kRelu + kRead)},
    {"a_sum_in_each",
     two_of_one(kSecond,
                "%s = binary(%a, %z) kind=add\n %t = binary(%b, %z) kind=add\n %ra = act(%s)" +
                    kRelu + "%rb = act(%t)" + kRelu + kRead)},
    {"an_output", two_of_one(kSecond, kBothActivated + kRead + "\n output %rb")},
    {"a_bias_behind_an_activation",
     two_of_one(kSecond, weights_text("bias", "4x1x1") + kBothActivated +
                             "%d = binary(%ra, %bias) kind=add\n %e = binary(%rb, %bias) "
                             "kind=add\n " +
                             read_both("d", "e"))},
    {"groups", "input %x : float32[1x4x5x5]\n " + weights_text("w", "4x2x1x1") +
                   weights_text("v", "4x4x3x3") + "%a = conv(%x, %w) " + kTwoGroups +
                   "\n %b = conv(%x, %w) " + kTwoGroups + "\n " + kBothActivated + kRead},
    {"weights_of_run_time", "input %x : float32[1x4x5x5]\n input %w : float32[4x4x1x1]\n " +
                                weights_text("v", "4x4x3x3") + "%a = conv(%x, %w) " + kPointwise +
                                "\n %b = conv(%x, %w) " + kPointwise + "\n " + kBothActivated +
                                kRead},
    {"quantised_weights", kQuantizedWeights},
};

void PrintTo(const NoSiblings& none, std::ostream* out) {
  *out << none.name;
}

class ConvolutionsApart : public testing::TestWithParam<NoSiblings> {};

TEST_P(ConvolutionsApart, AreNoSiblings) {
  EXPECT_TRUE(network_of(GetParam().body).alternatives.empty());
}

INSTANTIATE_TEST_SUITE_P(Graphs, ConvolutionsApart, testing::ValuesIn(kNoSiblings),
                         [](const auto& row) { return row.param.name; });

// Each of the rows above is one step away from this.
TEST(Siblings, AreTwoOfOneValue) {
  const Network network = network_of(two_of_one(kSecond, kBothActivated + kRead));
  ASSERT_EQ(network.alternatives.size(), 1u);
  EXPECT_EQ(network.alternatives[0].replaces, (std::vector<size_t>{0, 1}));
}

TEST(Siblings, AreNotOfferedWhereOnlyTheReferenceRunsThem) {
  Fixture f;
  f.source->trust = Trust::reference;
  EXPECT_TRUE(network_of(f, two_of_one(kSecond, kBothActivated + kRead)).alternatives.empty());
}

TEST(Siblings, AreNotOfferedWhereOnlyTheReferenceRunsThemAsOne) {
  Fixture f;
  f.source->refuses = [](const Problem& p) { return output_dims(p)[1] > 4; };
  auto reference = std::make_unique<TestSource>();
  reference->name = "reference";
  reference->trust = Trust::reference;
  f.sources.push_back(std::move(reference));
  EXPECT_TRUE(network_of(f, two_of_one(kSecond, kBothActivated + kRead)).alternatives.empty());
}

TEST(Siblings, AreNotOfferedWhereNothingRunsTheSplit) {
  Fixture f;
  f.source->refuses = [](const Problem& p) { return is_one_of<Split>(p); };
  EXPECT_TRUE(network_of(f, two_of_one(kSecond, kBothActivated + kRead)).alternatives.empty());
}

// Two pairs, whose merged weights take 2 MiB each.
TEST(Siblings, KeepToTheLimitOnConstantsThatAreMadeAtBuildTime) {
  const auto offered = [](int64_t folded_mib) {
    const auto pair = [](const std::string& of, const std::string& names) {
      std::string out;
      for (const char name : names)
        out += std::string("%") + name + " = conv(%" + of + ", %w) " + kPointwise + "\n ";
      return out;
    };
    auto graph =
        parse_graph("graph t {\n input %x : float32[1x512x1x1]\n input %z : float32[1x512x1x1]\n " +
                    weights_text("w", "512x512x1x1") + pair("x", "ab") + pair("z", "cd") +
                    "%y = concat(%a, %b, %c, %d) axis=1\n output %y\n}");
    EXPECT_TRUE(graph.ok()) << graph.error().message;
    graph->limits.folded_mib = folded_mib;
    Fixture f;
    return lower(std::move(*graph), f.sources, {Precision::fp32})->alternatives.size();
  };
  EXPECT_EQ(offered(1), 0u);
  EXPECT_EQ(offered(3), 1u);
  EXPECT_EQ(offered(4), 2u);
}

// What one is asked to compute in, the others are not; what all are, holds for the split as well.
TEST(Siblings, AreAskedForTheSamePrecisions) {
  const auto lowered = [](const NodePrecisions& of_nodes) {
    auto graph = parse_graph("graph t {\n" + two_of_one(kSecond, read_both("a", "b")) + "\n}");
    EXPECT_TRUE(graph.ok()) << graph.error().message;
    Fixture f;
    return *lower(std::move(*graph), f.sources, {Precision::fp32, Precision::fp16}, of_nodes);
  };
  EXPECT_TRUE(lowered({{0, Precision::fp32}}).alternatives.empty());
  const Network both = lowered({{0, Precision::fp32}, {1, Precision::fp32}});
  ASSERT_EQ(both.alternatives.size(), 1u);
  for (const NetworkNode& node : both.alternatives[0].instead)
    EXPECT_EQ(node.precisions, std::set{Precision::fp32});
}

}  // namespace
}  // namespace enginery
