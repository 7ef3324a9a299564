// Watching a model changes nothing of what it computes, misses no value, and ends in histograms
// that shards of the data give as one pass does.
#include "tuner/collect/collect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/data/npy.h"
#include "engine/graph/made_up_inputs.h"
#include "engine/graph/run_graph.h"
#include "engine/graph/text.h"
#include "tests/support/random_graph.h"
#include "tests/support/temporary_folder.h"

namespace enginery {
namespace {

const char* const kConv = "strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=1";

// A convolution that passes would fuse with what follows it, a constant of two nodes, an integer
// value, and a concatenation.
Graph small_network(int rows = 2) {
  const std::string x = std::to_string(rows) + "x4x6x6";
  auto graph = parse_graph("graph net {\n input %x : float32[" + x +
                           "]\n"
                           "%w = constant float32[4x4x3x3] random(1)\n"
                           "%k = constant float32[1] {2}\n"
                           "%k2 = binary(%k, %k) kind=mul\n"
                           "%c = conv(%x, %w) " +
                           kConv +
                           "\n"
                           "%s = binary(%c, %k2) kind=mul\n"
                           "%r = act(%s) kind=relu\n"
                           "%m = concat(%r, %x) axis=1\n"
                           "output %m\n}");
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  return *graph;
}

const WatchOptions kPlain{"cpu-sse41", 1};

std::map<std::string, Tensor> tensors_of(const std::vector<WatchedModel::Seen>& seen) {
  std::map<std::string, Tensor> out;
  for (const auto& one : seen) out.emplace(one.name, one.tensor);
  return out;
}

// Every floating-point value that the references make, compared with what the model shows.
void expect_same_values(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::map<std::string, Tensor> by_name;
  for (size_t i = 0; i < inputs.size(); ++i)
    by_name.emplace(graph.value(graph.inputs()[i]).name, inputs[i]);
  auto model = WatchedModel::make(graph, kPlain);
  ASSERT_TRUE(model.ok()) << model.error().message << to_text(graph);
  auto run = (*model)->run(by_name);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->size(), (*model)->watched());
  const auto seen = tensors_of(*run);
  EXPECT_EQ(seen.size(), run->size()) << "a name twice";
  const auto outputs = run_graph(graph, by_name, [&](ValueId v, const Tensor& expected) {
    const auto found = seen.find(graph.value(v).name);
    if (found == seen.end()) return;
    EXPECT_EQ(found->second.tensor_type(), expected.tensor_type());
    EXPECT_LT(relative_error(found->second, expected), 1e-3) << graph.value(v).name;
  });
  ASSERT_TRUE(outputs.ok()) << outputs.error().message;
}

TEST(WatchedModel, OfOutputsAloneShowsNothingWithin) {
  const Graph graph = small_network();
  WatchOptions outputs = kPlain;
  outputs.outputs_only = true;
  auto model = WatchedModel::make(graph, outputs);
  ASSERT_TRUE(model.ok()) << model.error().message;
  auto run = (*model)->run({{"x", made_up_inputs(graph, 1)[0]}});
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ((*model)->watched(), 2u);
  ASSERT_EQ(run->size(), 2u);
  EXPECT_EQ((*run)[0].name, "x");
  EXPECT_EQ((*run)[1].name, "m");
}

TEST(WatchedModel, ShowsEveryValueBeforeFusionAndNoConstant) {
  const Graph graph = small_network();
  auto model = WatchedModel::make(graph, kPlain);
  ASSERT_TRUE(model.ok()) << model.error().message;
  auto run = (*model)->run({{"x", made_up_inputs(graph, 1)[0]}});
  ASSERT_TRUE(run.ok()) << run.error().message;
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors_of(*run)) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"c", "m", "r", "s", "x"}));
}

TEST(WatchedModel, ComputesWhatTheReferencesDo) {
  const Graph graph = small_network();
  expect_same_values(graph, made_up_inputs(graph, 3));
}

// Outputs of the random graphs come with what they may differ by; their inner values do not.
// What a calibration is, to the last bit of a mean, does not follow from the threads at hand.
TEST(WatchedModel, ShowsTheSameBitsOnAnyNumberOfThreads) {
  const Graph graph = *parse_graph(std::string("graph net {\n input %x : float32[2x64x8x8]\n"
                                               "%w = constant float32[64x64x3x3] random(1)\n"
                                               "%c = conv(%x, %w) ") +
                                   kConv + "\n%r = act(%c) kind=relu\noutput %r\n}");
  Tensor x(DataType::float32, {2, 64, 8, 8});
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (float& v : x.mutable_data<float>()) v = normal(random);
  std::map<std::string, Tensor> first;
  for (const int threads : {1, 2, 16}) {
    auto model = WatchedModel::make(graph, {kPlain.sku, threads});
    ASSERT_TRUE(model.ok()) << model.error().message;
    const auto seen = tensors_of((*model)->run({{"x", x}}).value());
    if (first.empty()) first = seen;
    for (const auto& [name, tensor] : first)
      EXPECT_TRUE(std::ranges::equal(tensor.data<float>(), seen.at(name).data<float>()))
          << name << " on " << threads << " threads";
  }
}

TEST(WatchedModel, RunsRandomGraphsAsTheReferencesDo) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const test::RandomGraph random = test::random_graph(seed);
    const auto inputs = test::random_inputs(random.graph, seed);
    auto model = WatchedModel::make(random.graph, kPlain);
    ASSERT_TRUE(model.ok()) << model.error().message;
    auto run = (*model)->run(inputs);
    ASSERT_TRUE(run.ok()) << run.error().message;
    const auto seen = tensors_of(*run);
    const auto expected = run_graph(random.graph, inputs);
    ASSERT_TRUE(expected.ok());
    for (size_t i = 0; i < random.graph.outputs().size(); ++i) {
      const std::string& name = random.graph.value(random.graph.outputs()[i]).name;
      const auto found = seen.find(name);
      if (found == seen.end()) continue;  // not of floats
      const Tensor a = convert(found->second, DataType::float64);
      const Tensor e = convert(expected->at(name), DataType::float64);
      for (size_t k = 0; k < a.data<double>().size(); ++k) {
        const double x = a.data<double>()[k], y = e.data<double>()[k];
        if (x == y || (std::isnan(x) && std::isnan(y))) continue;
        // Kernels round where passes do not.
        ASSERT_LE(std::abs(x - y), random.bars[i] + 1e-5 * std::max(1.0, std::abs(y))) << name;
      }
    }
  }
}

TEST(WatchedModel, RefusesMoreMemoryThanItMayHave) {
  Graph graph = small_network(40'000);
  graph.limits.arena_mib = 50;
  const auto model = WatchedModel::make(graph, kPlain);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().code, ErrorCode::unsupported);
  EXPECT_NE(model.error().message.find("smaller batch"), std::string::npos);
}

class CollectTest : public testing::Test {
 protected:
  const Graph graph_ = small_network();
  test::TemporaryFolder folder_;

  std::string write(const std::string& name, const Tensor& tensor) {
    const auto path = (folder_.path / name).string();
    EXPECT_TRUE(write_npy(path, tensor).ok());
    return path;
  }
  Tensor rows(int64_t first, int64_t last) const {
    const Tensor all = made_up_input({DataType::float32, {7, 4, 6, 6}}, {}, 5);
    const auto row = static_cast<size_t>(all.size() / 7);
    return Tensor::of<float>({last - first, 4, 6, 6},
                             all.data<float>().subspan(static_cast<size_t>(first) * row,
                                                       static_cast<size_t>(last - first) * row));
  }
  Result<HistogramSet> collect_from(const Tensor& data, CollectOptions options = {}) {
    options.watch = kPlain;
    const std::string path = write("data.npy", data);
    auto opened = CalibrationData::open({{path}, {}, 0, 1}, input_descriptions(graph_));
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return collect(graph_, *opened, options);
  }
};

TEST_F(CollectTest, CountsEveryElementOnceInAPartialBatchToo) {
  const auto set = collect_from(rows(0, 7));
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(set->samples, 7u);
  EXPECT_EQ(set->model, fingerprint(graph_));
  EXPECT_EQ(set->tensors.size(), 5u);
  EXPECT_EQ(set->tensors.at("x").count(), 7u * 4 * 6 * 6);
  EXPECT_EQ(set->tensors.at("m").count(), 7u * 8 * 6 * 6);
  EXPECT_EQ(set->tensors.at("r").least, 0);
  EXPECT_LT(set->tensors.at("s").least, 0);
}

TEST_F(CollectTest, ShardsOfTheDataMergeToTheBytesOfOnePass) {
  const auto one = collect_from(rows(0, 7));
  HistogramSet merged;
  for (const auto& [first, last] : {std::pair{3, 7}, std::pair{0, 1}, std::pair{1, 3}}) {
    const auto shard = collect_from(rows(first, last));
    ASSERT_TRUE(shard.ok()) << shard.error().message;
    ASSERT_TRUE(merged.merge(*shard).ok());
  }
  ASSERT_TRUE(one.ok()) << one.error().message;
  EXPECT_EQ(merged.digest(), one->digest());
}

TEST_F(CollectTest, SumsChannelsOfWhatConvolutionsReadWhereAsked) {
  CollectOptions options;
  EXPECT_TRUE(collect_from(rows(0, 7))->channels.empty());
  options.with_channels = true;
  const auto one = collect_from(rows(0, 7), options);
  ASSERT_TRUE(one.ok()) << one.error().message;
  ASSERT_TRUE(one->channels.contains("x"));
  EXPECT_FALSE(one->channels.contains("s")) << "no convolution reads it";
  EXPECT_EQ(one->channels.at("x").rows, 7u) << "of the last batch those that hold data";
  const Tensor data = rows(0, 7);
  double first = 0;
  for (size_t row = 0; row < 7; ++row)
    for (size_t i = 0; i < 36; ++i) first += double{data.data<float>()[row * 4 * 36 + i]};
  EXPECT_NEAR(one->channels.at("x").means().at(0), first / (7 * 36), 1e-5);
  HistogramSet merged;
  for (const auto& [from, to] : {std::pair{3, 7}, std::pair{0, 3}})
    ASSERT_TRUE(merged.merge(*collect_from(rows(from, to), options)).ok());
  EXPECT_EQ(merged.digest(), one->digest());
}

TEST_F(CollectTest, NamesTheLayerThatGivesNaN) {
  Tensor data = rows(0, 2);
  for (float& one : data.mutable_data<float>()) one = 3.4e38f;
  const auto set = collect_from(data);
  ASSERT_FALSE(set.ok());
  EXPECT_EQ(set.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(set.error().message.find("(conv): tensor 'c': "), std::string::npos)
      << set.error().message;
  data.mutable_data<float>()[10] = NAN;
  const auto in_data = collect_from(data);
  ASSERT_FALSE(in_data.ok());
  EXPECT_NE(in_data.error().message.find("the data: tensor 'x': NaN"), std::string::npos)
      << in_data.error().message;
  // The last of three rows, of which a batch has two.
  data = rows(0, 3);
  data.mutable_data<float>()[static_cast<size_t>(data.size()) - 1] = NAN;
  const auto in_row = collect_from(data);
  ASSERT_FALSE(in_row.ok());
  EXPECT_TRUE(in_row.error().message.ends_with("data.npy[2]")) << in_row.error().message;
}

TEST_F(CollectTest, SaysHowFarItIsAndStopsWhenAsked) {
  std::vector<int64_t> done;
  CollectOptions options;
  options.progress = [&](int64_t now, int64_t total) {
    EXPECT_EQ(total, 7);
    done.push_back(now);
  };
  ASSERT_TRUE(collect_from(rows(0, 7), options).ok());
  EXPECT_EQ(done, (std::vector<int64_t>{2, 4, 6, 7}));
  options.cancelled = [&] { return done.size() >= 6; };
  const auto set = collect_from(rows(0, 7), options);
  ASSERT_FALSE(set.ok());
  EXPECT_EQ(set.error().code, ErrorCode::cancelled);
  EXPECT_EQ(done.size(), 6u);
}

}  // namespace
}  // namespace enginery
