// Builds in this process: of a network, of a model file; what they say, and how they are refused.
#include <filesystem>

#include "engine/base/file.h"
#include "tests/builder/cpu_sku.h"
#include "tests/builder/layer_sink.h"
#include "tests/builder/network_fixture.h"
#include "tests/support/temporary_folder.h"

namespace enginery::test {
namespace {

class BuildLibrary : public SmallNetwork {
 protected:
  void SetUp() override {
    SmallNetwork::SetUp();
    catalog_ = (folder_.path / "catalog").string();
    keys_ = (folder_.path / "keys").string();
    options_.struct_size = sizeof options_;
    expect_built(enginery_build_options_init(&options_));
    options_.catalog = catalog_.c_str();
    options_.keys = keys_.c_str();
    options_.threads = 1;
    options_.level = 0;
    sku_ = cpu_sku();
    options_.sku = sku_.c_str();
    report_.struct_size = sizeof report_;
  }

  enginery_status build() {
    return enginery_build_network(network_, &options_, keep_bytes, &engine_, &report_);
  }

  // What the built engine gives for x.
  std::vector<float> run(std::vector<float> x, const char* input, size_t outputs) {
    enginery_load_options load{};
    load.struct_size = sizeof load;
    load.keys_folder = keys_.c_str();
    load.threads = 1;
    enginery_engine* engine = nullptr;
    EXPECT_EQ(enginery_engine_load_memory(engine_.data(), engine_.size(), &load, &engine),
              ENGINERY_OK)
        << enginery_last_error();
    enginery_context* context = nullptr;
    EXPECT_EQ(enginery_context_create(engine, &context), ENGINERY_OK) << enginery_last_error();
    std::vector<float> y(outputs, -1);
    EXPECT_EQ(enginery_context_set_input(context, input, x.data(), x.size() * sizeof(float)),
              ENGINERY_OK)
        << enginery_last_error();
    EXPECT_EQ(enginery_context_set_output(context, "y", y.data(), y.size() * sizeof(float)),
              ENGINERY_OK)
        << enginery_last_error();
    EXPECT_EQ(enginery_context_run(context), ENGINERY_OK) << enginery_last_error();
    enginery_context_destroy(context);
    enginery_engine_destroy(engine);
    return y;
  }

  TemporaryFolder folder_;
  std::string catalog_, keys_, sku_, engine_;
  enginery_build_options options_{};
  enginery_build_report report_{};
};

TEST_F(BuildLibrary, GivesAnEngineThatRunsAndThenTheCatalogsOne) {
  expect_built(enginery_network_mark_output(network_, add_sum(), "y"));
  expect_built(build());
  EXPECT_EQ(run({10, 20, 30, 40}, "x", 4), (std::vector<float>{11, 22, 33, 44}));
  EXPECT_EQ(report_.engine_bytes, engine_.size());
  EXPECT_EQ(report_.from_catalog, 0);
  EXPECT_GT(report_.latency_ms, 0);
  const std::string first = engine_;
  expect_built(build());
  EXPECT_EQ(report_.from_catalog, 1);
  EXPECT_EQ(engine_, first);
  const std::string other_keys = (folder_.path / "others").string();
  options_.keys = other_keys.c_str();
  expect_built(build());
  EXPECT_EQ(report_.from_catalog, 0);
  EXPECT_NE(engine_, first);
}

TEST_F(BuildLibrary, TakesFilesOfNetworksAndOfModels) {
  expect_built(enginery_network_mark_output(network_, add_sum(), "y"));
  const std::string saved_file = (folder_.path / "small.network").string();
  ASSERT_TRUE(write_file(saved_file, saved()).ok());
  expect_built(enginery_build_file(saved_file.c_str(), &options_, keep_bytes, &engine_, &report_));
  EXPECT_EQ(run({1, 1, 1, 1}, "x", 4), (std::vector<float>{2, 3, 4, 5}));
  const auto onnx = make_onnx_sink();
  onnx->input("in", {1, 2});
  onnx->relu("y", "in");
  onnx->output("y");
  const std::string model_file = (folder_.path / "relu.onnx").string();
  ASSERT_TRUE(write_file(model_file, onnx->bytes()).ok());
  expect_built(enginery_build_file(model_file.c_str(), &options_, keep_bytes, &engine_, nullptr));
  EXPECT_EQ(run({-3, 3}, "in", 2), (std::vector<float>{0, 3}));
  expect_refused(enginery_build_file("/no/such.onnx", &options_, keep_bytes, &engine_, nullptr),
                 ENGINERY_ERROR_NOT_FOUND, "/no/such.onnx");
}

TEST_F(BuildLibrary, KeepsToTheMemoryPoolsAndRefusesOthers) {
  expect_built(enginery_network_mark_output(network_, add_sum(), "y"));
  options_.memory_pools = "workspace:1K";
  expect_built(build());
  EXPECT_NE(engine_.find("memory_pools=workspace:1024B"), std::string::npos);
  options_.memory_pools = "workspace";
  expect_refused(build(), ENGINERY_ERROR_USAGE, "workspace:SIZE");
  options_.memory_pools = "dlaSRAM:1";
  expect_refused(build(), ENGINERY_ERROR_USAGE, "memory pool 'dlaSRAM'");
}

TEST_F(BuildLibrary, GivesOpenSizesTheirNumber) {
  const int64_t open[] = {-1, 4};
  enginery_tensor z = 0;
  expect_built(enginery_network_add_input(network_, "z", ENGINERY_FLOAT32, open, 2, &z));
  enginery_tensor_info info{};
  info.struct_size = sizeof info;
  expect_built(enginery_network_get_tensor(network_, z, &info));
  EXPECT_EQ(info.bytes, 0u);
  x_ = z;
  expect_built(enginery_network_mark_output(network_, add_sum(), "y"));
  options_.shapes = "z:3x4";
  expect_built(build());
  options_.shapes = "z:3x5";
  expect_refused(build(), ENGINERY_ERROR_INVALID_ARGUMENT, "node 'l' (binary)");
}

// A layer of its own precision, whose result is of the type asked for.
TEST_F(BuildLibrary, KeepsALayersPrecisionAndType) {
  const enginery_tensor inputs[] = {x_, w_};
  enginery_layer sum = layer("binary");
  sum.inputs = inputs;
  sum.input_count = 2;
  sum.precision = "float16";
  enginery_tensor half = 0, whole = 0;
  expect_built(enginery_network_add_layer(network_, &sum, &half, 1, nullptr));
  enginery_tensor_info info{};
  info.struct_size = sizeof info;
  expect_built(enginery_network_get_tensor(network_, half, &info));
  EXPECT_EQ(info.type, ENGINERY_FLOAT32);
  EXPECT_STREQ(info.name, "l");
  sum.precision = nullptr;
  sum.output_type = "int32";
  expect_built(enginery_network_add_layer(network_, &sum, &whole, 1, nullptr));
  expect_built(enginery_network_get_tensor(network_, whole, &info));
  EXPECT_EQ(info.type, ENGINERY_INT32);
  expect_built(enginery_network_mark_output(network_, half, "y"));
  expect_built(build());
  EXPECT_NE(saved().find("\"to\":\"float16\""), std::string::npos);
  const std::vector<float> y = run({4096, 4096, 4097, 4100}, "x", 4);
  const float sums[] = {4097, 4098, 4100, 4104};
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], sums[i], 4);  // float16's step there
}

TEST_F(BuildLibrary, SaysHowFarItIsAndEndsWhenAsked) {
  expect_built(enginery_network_mark_output(network_, add_sum(), "y"));
  struct Heard {
    int phases = 0;
    int32_t cancel = 0;
  } heard;
  options_.user = &heard;
  options_.progress = [](void* user, const char*, uint64_t, uint64_t) {
    ++static_cast<Heard*>(user)->phases;
  };
  options_.cancelled = [](void* user) { return static_cast<Heard*>(user)->cancel; };
  expect_built(build());
  EXPECT_GT(heard.phases, 1);
  heard.cancel = 1;
  options_.rebuild = 1;
  engine_ = "untouched";
  expect_refused(build(), ENGINERY_ERROR_CANCELLED, "cancelled");
  EXPECT_EQ(engine_, "untouched");
}

TEST_F(BuildLibrary, KeepsTimingsWhereItIsTold) {
  const std::string timings = (folder_.path / "timings.json").string();
  expect_built(enginery_network_mark_output(network_, add_sum(), "y"));
  options_.level = 2;
  options_.timing_cache = timings.c_str();
  expect_built(build());
  EXPECT_GT(report_.timings_measured, 0u);
  EXPECT_TRUE(std::filesystem::exists(timings));
  expect_built(build());
  EXPECT_EQ(report_.timings_measured, 0u);
  EXPECT_GT(report_.timings_reused, 0u);
}

// A build from within a build, as from another thread; afterwards there is room for the next.
TEST_F(BuildLibrary, IsOneAtATime) {
  expect_built(enginery_network_mark_output(network_, add_sum(), "y"));
  struct Second {
    enginery_network* network;
    enginery_build_options options;
    std::string engine, said;
    enginery_status status = ENGINERY_OK;
  } second{network_, options_, {}, {}};
  options_.user = &second;
  options_.progress = [](void* user, const char*, uint64_t, uint64_t) {
    Second& s = *static_cast<Second*>(user);
    s.status = enginery_build_network(s.network, &s.options, keep_bytes, &s.engine, nullptr);
    s.said = enginery_build_last_error();
  };
  expect_built(build());
  EXPECT_EQ(second.status, ENGINERY_ERROR_BUSY);
  EXPECT_NE(second.said.find("another build is under way"), std::string::npos) << second.said;
  EXPECT_TRUE(second.engine.empty());
  expect_built(
      enginery_build_network(network_, &second.options, keep_bytes, &second.engine, nullptr));
}

// The steps' answers come from there: a program that gives none ends the build, not this process.
TEST_F(BuildLibrary, RunsItsStepsInProcessesOfTheCommand) {
  expect_built(enginery_network_mark_output(network_, add_sum(), "y"));
  options_.level = 2;
  options_.command = "/bin/false";
  expect_refused(build(), ENGINERY_ERROR_INTERNAL, "runner");
  EXPECT_TRUE(engine_.empty());
  options_.command = ENGINERY_TEST_RUNNER;
  expect_built(build());
  EXPECT_GT(report_.timings_measured, 0u);
  EXPECT_EQ(run({10, 20, 30, 40}, "x", 4), (std::vector<float>{11, 22, 33, 44}));
}

TEST_F(BuildLibrary, RefusesOptionsThatAreNone) {
  expect_built(enginery_network_mark_output(network_, add_sum(), "y"));
  const enginery_build_options good = options_;
  const struct {
    void (*change)(enginery_build_options&);
    enginery_status status;
    const char* words;
  } wrong[] = {
      {[](enginery_build_options& o) { o.struct_size = 0; }, ENGINERY_ERROR_INVALID_ARGUMENT,
       "struct_size"},
      {[](enginery_build_options& o) { o.struct_size += 8; }, ENGINERY_ERROR_INVALID_ARGUMENT,
       "newer version"},
      {[](enginery_build_options& o) { o.level = 6; }, ENGINERY_ERROR_INVALID_ARGUMENT,
       "level: expected a number from 0 to 5, got 6"},
      {[](enginery_build_options& o) { o.threads = -1; }, ENGINERY_ERROR_INVALID_ARGUMENT,
       "threads"},
      {[](enginery_build_options& o) { o.aux_streams = -2; }, ENGINERY_ERROR_INVALID_ARGUMENT,
       "aux_streams"},
      {[](enginery_build_options& o) { o.precisions = "fp7"; }, ENGINERY_ERROR_USAGE, "fp7"},
      {[](enginery_build_options& o) { o.precisions = "int8"; }, ENGINERY_ERROR_UNSUPPORTED,
       "calibration"},
      {[](enginery_build_options& o) { o.shapes = "x=1"; }, ENGINERY_ERROR_USAGE, "x=1"},
      {[](enginery_build_options& o) { o.shapes = "q:1x4"; }, ENGINERY_ERROR_INVALID_ARGUMENT,
       "no input 'q'"},
      {[](enginery_build_options& o) { o.limits = "speed=1"; }, ENGINERY_ERROR_USAGE, "speed"},
      {[](enginery_build_options& o) { o.without_sources = "fairies"; }, ENGINERY_ERROR_NOT_FOUND,
       "no tactic source 'fairies'"},
      {[](enginery_build_options& o) { o.layer_precisions = "none:fp32"; },
       ENGINERY_ERROR_NOT_FOUND, "no layer has the name 'none'"},
      {[](enginery_build_options& o) { o.layer_precisions = "none:int8"; },
       ENGINERY_ERROR_UNSUPPORTED, "scales"},
      {[](enginery_build_options& o) { o.sku = "abacus"; }, ENGINERY_ERROR_NOT_FOUND,
       "no device type 'abacus'"},
      {[](enginery_build_options& o) { o.command = "/no/enginery"; }, ENGINERY_ERROR_NOT_FOUND,
       "/no/enginery"},
      {[](enginery_build_options& o) { o.catalog = "/proc/none"; }, ENGINERY_ERROR_STORAGE,
       "/proc/none"},
  };
  for (const auto& [change, status, words] : wrong) {
    options_ = good;
    change(options_);
    expect_refused(build(), status, words);
  }
  expect_refused(enginery_build_network(network_, &good, nullptr, nullptr, nullptr),
                 ENGINERY_ERROR_INVALID_ARGUMENT, "takes the engine is null");
  expect_refused(enginery_build_file(nullptr, &good, keep_bytes, &engine_, nullptr),
                 ENGINERY_ERROR_INVALID_ARGUMENT, "path is null");
  expect_refused(enginery_build_options_init(nullptr), ENGINERY_ERROR_INVALID_ARGUMENT, "is null");
}

}  // namespace
}  // namespace enginery::test
