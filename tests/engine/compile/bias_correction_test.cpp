// The correction of biases: what rounding the weights shifts on average is gone, where a bias can
// take it.
#include "engine/compile/bias_correction.h"

#include "engine/compile/quantize_products.h"
#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

const ChannelMeans kMeansOfX{{"x", {1, 2, -1, 0.5f}}};

// Per channel constants as inputs, so that means are all there is: x = mean.
Tensor constant_channels(const std::vector<float>& means, const Dims& dims) {
  Tensor out(DataType::float32, dims);
  const auto data = out.mutable_data<float>();
  const size_t plane = data.size() / means.size();
  for (size_t i = 0; i < data.size(); ++i) data[i] = means[i / plane];
  return out;
}

// The largest difference of output `name` in the middle of its planes, where no padding counts.
double middle_error(const Graph& a, const Graph& b, const std::string& name, const Tensor& x) {
  const auto before = run_graph(a, {{"x", x}}), after = run_graph(b, {{"x", x}});
  EXPECT_TRUE(before.ok() && after.ok());
  const auto one = before->at(name).data<float>(), other = after->at(name).data<float>();
  double worst = 0;
  for (size_t i = 12; i < one.size(); i += 25)
    worst = std::max(worst, std::abs(double{one[i]} - double{other[i]}));
  return worst;
}

// Steps in which the means are whole numbers: the activations lose nothing.
const TensorScales kExactScales{{{"x", 0.5f}}};

double error_of(const std::string& body, const std::string& output, const ChannelMeans& means,
                size_t corrected) {
  Graph graph = parse(body);
  const Graph before = graph;
  const auto done = quantize_products(graph, kExactScales, {}, means);
  EXPECT_TRUE(done.ok());
  EXPECT_EQ(done->corrected, corrected);
  return middle_error(before, graph, output, constant_channels(kMeansOfX.at("x"), {1, 4, 5, 5}));
}

const std::string kInput = "input %x : float32[1x4x5x5]\n %b = constant float32[4] {1, 2, 3, 4}\n";
const std::string kFull = kInput + "%w = constant float32[4x4x3x3] random(1)\n";

TEST(BiasCorrection, TakesOutWhatRoundingShifts) {
  const std::string body = kFull + "%c = conv(%x, %w, %b) " + kConv + "\n output %c";
  EXPECT_GT(error_of(body, "c", {}, 0), 1e-3);
  EXPECT_LT(error_of(body, "c", kMeansOfX, 1), 1e-5);
}

TEST(BiasCorrection, OfGroupsCountsEachGroupsChannels) {
  const std::string body = kInput +
                           "%w = constant float32[4x2x3x3] random(1)\n %c = conv(%x, %w, %b) "
                           "strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] "
                           "groups=2\n output %c";
  EXPECT_GT(error_of(body, "c", {}, 0), 1e-3);
  EXPECT_LT(error_of(body, "c", kMeansOfX, 1), 1e-5);
}

TEST(BiasCorrection, ABatchNormalisationTakesItIn) {
  const std::string body = kFull + "%c = conv(%x, %w) " + kConv +
                           "\n %v = constant float32[4] {1, 2, 3, 4}\n %n = batch_norm(%c, %b, "
                           "%b, %b, %v) epsilon=0\n output %n";
  EXPECT_GT(error_of(body, "n", {}, 0), 1e-3);
  EXPECT_LT(error_of(body, "n", kMeansOfX, 1), 1e-5);
}

TEST(BiasCorrection, OfAGemmEitherWayRound) {
  for (const std::string& form :
       {std::string("%w = constant float32[4x3] random(1)\n %y = gemm(%x, "
                    "%w, %b) alpha=1 beta=1 transpose_a=false "
                    "transpose_b=false"),
        std::string("%w = constant float32[3x4] random(1)\n %y = gemm(%x, "
                    "%w, %b) alpha=1 beta=1 transpose_a=false "
                    "transpose_b=true")}) {
    Graph graph = parse("input %x : float32[2x4]\n %b = constant float32[1x3] {1, 2, 3}\n" + form +
                        "\n output %y");
    const Graph before = graph;
    ASSERT_EQ(quantize_products(graph, kExactScales, {}, kMeansOfX)->corrected, 1u);
    const Tensor x = Tensor::of<float>({2, 4}, {1, 2, -1, 0.5f, 1, 2, -1, 0.5f});
    const auto one = run_graph(before, {{"x", x}}), other = run_graph(graph, {{"x", x}});
    EXPECT_LE(relative_error(other->at("y"), one->at("y")), 1e-5) << form;
  }
}

// Another bias would be another network to tune.
TEST(BiasCorrection, LeavesTheStructureAsItIs) {
  const std::string bare =
      kFull + "%c = conv(%x, %w) " + kConv + "\n %r = act(%c) kind=relu\n output %r";
  error_of(bare, "r", kMeansOfX, 0);
  const std::string biased = kFull + "%c = conv(%x, %w, %b) " + kConv + "\n output %c";
  error_of(biased, "c", {{"x", {1, 2}}}, 0);
  error_of(biased, "c", {{"y", {1, 2, 3, 4}}}, 0);
  Graph one = parse(biased), other = parse(biased);
  ASSERT_TRUE(quantize_products(one, kExactScales, {}, kMeansOfX).ok());
  ASSERT_TRUE(quantize_products(other, kExactScales).ok());
  EXPECT_EQ(structure_fingerprint(one), structure_fingerprint(other));
  EXPECT_NE(fingerprint(one), fingerprint(other));
}

}  // namespace
}  // namespace enginery
