// The public runtime over engine files that the test writes and signs: what run() takes, who may
// share an engine, and what a file is refused for.
#include "enginery/engine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "engine/base/file.h"
#include "engine/compile/compile.h"
#include "engine/graph/run_graph.h"
#include "engine/graph/text.h"
#include "tests/support/temporary_folder.h"
#include "tuner/analytic_choice.h"

namespace enginery {
namespace {

constexpr char kDeviceName[] = "cpu-sse41";  // every x86-64 of the last fifteen years

// Two inputs, two outputs, a product with weights, and a view between them.
constexpr char kNetwork[] = R"(graph g {
  input %a : float32[2x3]
  input %b : float32[2x4]
  %w = constant float32[3x4] random(1)
  %s = constant int64[1] {8}
  %p = matmul(%a, %w)
  %q = binary(%p, %b) kind=add
  %flat = reshape(%q, %s)
  %r = act(%flat) kind=tanh
  output %q
  output %r })";

class EngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto graph = parse_graph(kNetwork);
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    graph_ = std::move(*graph);
    ASSERT_TRUE(write_public_key(keys() / "trusted" / "test.pub", key_.public_key()).ok());
  }

  std::filesystem::path keys() const { return folder_.path / "keys"; }
  LoadOptions options(int threads = 0) const {
    return {.threads = threads, .device_index = 0, .keys_folder = keys().string()};
  }

  // The engine of kNetwork as a signed file, for `sku`; gives its path.
  std::string written(const std::string& sku = kDeviceName) {
    auto target = open_target(kDeviceName, BuildOptions());
    if (!target.ok()) ADD_FAILURE() << target.error().message;
    auto network = lower(graph_, target->sources, {Precision::fp32});
    auto plan = make_plan(*network, *analytic_choice(*network, target->sources));
    Manifest manifest;
    manifest.name = "net";
    manifest.sku = sku;
    for (const ValueId v : graph_.inputs())
      manifest.inputs.push_back({graph_.value(v).name, graph_.value(v).type});
    for (const ValueId v : graph_.outputs())
      manifest.outputs.push_back({graph_.value(v).name, graph_.value(v).type});
    Bytes bytes = *write_content(manifest, *plan) + *write_provenance(Provenance());
    bytes += signature_trailer(sha256(bytes), key_);
    const std::filesystem::path file = folder_.path / (sku + ".engine");
    EXPECT_TRUE(write_file(file, bytes).ok());
    return file.string();
  }

  // Two inputs that `seed` decides, the outputs of a run, and what the references make of them.
  struct Buffers {
    Tensor a{DataType::float32, {2, 3}}, b{DataType::float32, {2, 4}};
    std::vector<float> q = std::vector<float>(8, NAN), r = std::vector<float>(8, NAN);
    explicit Buffers(float seed) {
      for (float& v : a.mutable_data<float>()) v = std::sin(seed += 1);
      for (float& v : b.mutable_data<float>()) v = std::cos(seed += 1);
    }
    Status run(ExecutionContext& context) {
      const void* inputs[] = {a.raw(), b.raw()};
      void* outputs[] = {q.data(), r.data()};
      return context.run(inputs, outputs);
    }
  };
  void expect_right(const Buffers& buffers) const {
    const auto expected = run_graph(graph_, {{"a", buffers.a}, {"b", buffers.b}});
    ASSERT_TRUE(expected.ok()) << expected.error().message;
    for (size_t i = 0; i < 8; ++i) {
      EXPECT_NEAR(buffers.q[i], expected->at("q").data<float>()[i], 1e-5) << i;
      EXPECT_NEAR(buffers.r[i], expected->at("r").data<float>()[i], 1e-5) << i;
    }
  }
  Engine loaded() {
    auto engine = Engine::load(written(), options());
    if (!engine.ok()) ADD_FAILURE() << engine.error().message;
    return std::move(*engine);
  }

  test::TemporaryFolder folder_;
  SigningKey key_ = SigningKey::generate();
  Graph graph_;
};

TEST_F(EngineTest, GivesEachRunItsOwnResults) {
  const Engine engine = loaded();
  auto context = engine.create_context();
  ASSERT_TRUE(context.ok());
  for (const float seed : {1.0f, 50.0f, 1.0f}) {
    Buffers buffers(seed);  // new memory each time
    ASSERT_TRUE(buffers.run(*context).ok());
    expect_right(buffers);
  }
}

TEST_F(EngineTest, RunsAgainOnTheSameMemoryWithOtherNumbersInIt) {
  const Engine engine = loaded();
  auto context = engine.create_context();
  Buffers buffers(1);
  ASSERT_TRUE(buffers.run(*context).ok());
  for (float& v : buffers.a.mutable_data<float>()) v = 7;
  ASSERT_TRUE(buffers.run(*context).ok());
  expect_right(buffers);
}

TEST_F(EngineTest, RefusesAnotherNumberOfBuffers) {
  const Engine engine = loaded();
  auto context = engine.create_context();
  Buffers buffers(1);
  const void* inputs[] = {buffers.a.raw(), buffers.b.raw()};
  void* outputs[] = {buffers.q.data(), buffers.r.data()};
  const auto counted = [&](size_t in, size_t out) {
    return context->run(std::span(inputs).first(in), std::span(outputs).first(out));
  };
  for (const auto& [in, out] : {std::pair<size_t, size_t>{1, 2}, {2, 1}, {0, 0}}) {
    const Status status = counted(in, out);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::invalid_argument);
    const std::string counts =
        "2 inputs and 2 outputs, got " + std::to_string(in) + " and " + std::to_string(out);
    EXPECT_NE(status.error().message.find(counts), std::string::npos) << status.error().message;
  }
  ASSERT_TRUE(buffers.run(*context).ok()) << "a refused run leaves the context usable";
  expect_right(buffers);
}

TEST_F(EngineTest, ContextsOfOneEngineRunInParallel) {
  const Engine engine = loaded();
  std::vector<Buffers> buffers;
  for (int i = 0; i < 4; ++i) buffers.emplace_back(static_cast<float>(10 * i));
  std::vector<std::thread> threads;
  for (Buffers& own : buffers) {
    threads.emplace_back([&engine, &own] {
      auto context = engine.create_context();
      ASSERT_TRUE(context.ok());
      for (int i = 0; i < 20; ++i) ASSERT_TRUE(own.run(*context).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Buffers& own : buffers) expect_right(own);
}

TEST_F(EngineTest, AContextOutlivesItsEngineAndMoves) {
  auto context = [&] {
    const Engine engine = loaded();
    return *engine.create_context();
  }();
  ExecutionContext moved = std::move(context);
  Buffers buffers(3);
  ASSERT_TRUE(buffers.run(moved).ok());
  expect_right(buffers);
}

TEST_F(EngineTest, SaysWhatItHolds) {
  const EngineInfo info = loaded().info();
  EXPECT_EQ(info.name, "net");
  EXPECT_EQ(info.sku, kDeviceName);
  EXPECT_EQ(info.kind, "cpu");
  EXPECT_EQ(info.signer, key_id(key_.public_key()));
  ASSERT_EQ(info.inputs.size(), 2u);
  EXPECT_EQ(info.inputs[1].name, "b");
  EXPECT_EQ(info.inputs[1].type.dims, (Dims{2, 4}));
  EXPECT_EQ(info.weights_bytes, 12 * 4 + 8) << "the product's weights and the view's shape";
  double flops = 0;
  for (const LayerInfo& layer : info.layers) flops += layer.flops;
  EXPECT_GE(flops, 2 * 2 * 3 * 4) << "the product alone";
}

TEST_F(EngineTest, TimesTheWholeAndEachLayer) {
  const Engine engine = loaded();
  auto context = engine.create_context();
  Buffers buffers(1);
  ASSERT_TRUE(buffers.run(*context).ok());
  const auto whole = context->time_us();
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  EXPECT_GT(*whole, 0);
  const auto layers = context->profile(3);
  ASSERT_TRUE(layers.ok()) << layers.error().message;
  ASSERT_EQ(layers->size(), engine.info().layers.size());
  size_t timed = 0;
  for (const double us : *layers) timed += us > 0;
  EXPECT_GE(timed, 2u);  // all but the view
}

TEST_F(EngineTest, TakesTheThreadsThatAreAskedFor) {
  const std::string file = written();
  EXPECT_EQ(Engine::load(file, options(3))->threads(), 3);
  EXPECT_EQ(Engine::load(file, options())->threads(), Manifest().threads);
}

TEST_F(EngineTest, IsRefusedWithoutAKeyThatIsTrusted) {
  const std::string file = written();
  LoadOptions strange = options();
  strange.keys_folder = (folder_.path / "other-keys").string();
  for (const ErrorCode code :
       {Engine::load(file, strange).error().code, Engine::inspect(file, strange).error().code})
    EXPECT_EQ(code, ErrorCode::untrusted);
}

TEST_F(EngineTest, NamesTheFileThatIsNotThere) {
  const std::string file = (folder_.path / "none.engine").string();
  const auto engine = Engine::load(file, options());
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, ErrorCode::not_found);
  EXPECT_NE(engine.error().message.find(file), std::string::npos);
}

// An engine for a device type that this machine lacks, or that nobody knows: it can be inspected
// and not loaded.
TEST_F(EngineTest, OfAnotherDeviceIsInspectedAndNotLoaded) {
  const std::string file = written("quantum-9000");
  EXPECT_EQ(Engine::inspect(file, options())->sku, "quantum-9000");
  const auto engine = Engine::load(file, options());
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, ErrorCode::incompatible);
  EXPECT_TRUE(engine.error().message.starts_with(file + " is an engine for quantum-9000: "))
      << engine.error().message;
}

}  // namespace
}  // namespace enginery
