// What cuDNN is told of a convolution, and what is made of its answers: with a library of the
// test's own (fake_cudnn.h).
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/tactics/cuda/cudnn/conv_plan.h"
#include "tests/engine/tactics/cuda/fake_cudnn.h"
#include "tests/support/problem_text.h"

namespace enginery {
namespace {

using test::FakeCudnn;
using test::FakeDescriptor;
using Int64s = std::vector<int64_t>;

cudnnHandle_t some_handle() {
  return reinterpret_cast<cudnnHandle_t>(uintptr_t{5});
}

class CudnnGraph : public testing::Test {
 protected:
  Result<ConvGraph> make(const std::string& text, DataType type = DataType::float16) {
    const Problem problem = parse_problem(text).value();
    shape_ = conv_shape(problem).value();
    return make_conv_graph(library_.table, some_handle(), shape_,
                           lower_conv_epilogue(problem, shape_, type).value());
  }
  // A 1x1 convolution of [2, 8, 4, 5] with 16 output channels and what follows it.
  Result<ConvGraph> make_with(const std::string& epilogue) {
    return make(
        "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[2x8x4x5] "
        "w:float32[16x8x1x1] | " +
        epilogue);
  }
  std::vector<const FakeDescriptor*> pointwise() const {
    return library_.of_type(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  }
  cudnnPointwiseMode_t mode(size_t step) const {
    return pointwise()
        .at(step)
        ->to(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR)
        ->one<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
  }

  FakeCudnn library_;
  ConvShape shape_;
};

TEST_F(CudnnGraph, HasTensorsWithChannelsInnermostAndPadded) {
  const auto graph = make(
      "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[2x5x6x7] "
      "w:float32[12x5x3x2]");
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  const struct {
    int64_t id;
    Int64s dims, strides;
  } rows[] = {{kXId, {2, 8, 6, 7}, {8 * 42, 1, 8 * 7, 8}},
              {kWId, {16, 8, 3, 2}, {8 * 6, 1, 8 * 2, 8}},
              {kYId, {2, 16, 4, 6}, {16 * 24, 1, 16 * 6, 16}}};
  for (const auto& row : rows) {
    const FakeDescriptor* t = library_.tensor(row.id);
    ASSERT_TRUE(t) << row.id;
    EXPECT_EQ(t->all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS), row.dims) << row.id;
    EXPECT_EQ(t->all<int64_t>(CUDNN_ATTR_TENSOR_STRIDES), row.strides) << row.id;
    EXPECT_EQ(t->one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE), CUDNN_DATA_HALF);
    EXPECT_EQ(t->one<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT), 16);
    EXPECT_FALSE(t->one<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL));
  }
}

TEST_F(CudnnGraph, HasTheWeightsOfOneGroup) {
  ASSERT_TRUE(make("conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] groups=4 | "
                   "float32[1x32x6x6] w:float32[64x8x3x3]")
                  .ok());
  EXPECT_EQ(library_.tensor(kWId)->all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS),
            (Int64s{64, 8, 3, 3}));
  EXPECT_EQ(library_.tensor(kXId)->all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS),
            (Int64s{1, 32, 6, 6}));
}

TEST_F(CudnnGraph, SaysTheConvolutionsGeometryHeightFirst) {
  ASSERT_TRUE(make("conv strides=[2,3] dilations=[1,2] pads_begin=[4,5] pads_end=[6,7] | "
                   "float32[1x8x20x20] w:float32[8x8x3x3]",
                   DataType::float32)
                  .ok());
  const auto all = library_.of_type(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  ASSERT_EQ(all.size(), 1u);
  const FakeDescriptor& c = *all[0];
  EXPECT_EQ(c.all<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES), (Int64s{2, 3}));
  EXPECT_EQ(c.all<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS), (Int64s{1, 2}));
  EXPECT_EQ(c.all<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS), (Int64s{4, 5}));
  EXPECT_EQ(c.all<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS), (Int64s{6, 7}));
  EXPECT_EQ(c.one<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE),
            CUDNN_CROSS_CORRELATION);
  EXPECT_EQ(c.one<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE), CUDNN_DATA_FLOAT)
      << "sums are float32 whatever is stored";
  EXPECT_EQ(library_.tensor(kXId)->one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE),
            CUDNN_DATA_FLOAT);
}

// Between the steps flow tensors that exist only inside the graph, in float32.
TEST_F(CudnnGraph, ChainsTheStepsThroughVirtualTensors) {
  const auto graph = make_with("bias w:float32[16] | add float32[2x16x4x5] | act kind=relu");
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  const auto steps = pointwise();
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(mode(0), CUDNN_POINTWISE_ADD);
  EXPECT_EQ(mode(1), CUDNN_POINTWISE_ADD);
  EXPECT_EQ(mode(2), CUDNN_POINTWISE_RELU_FWD);
  const FakeDescriptor* flowing =
      library_.of_type(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR)
          .at(0)
          ->to(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i]->to(CUDNN_ATTR_OPERATION_POINTWISE_XDESC), flowing) << i;
    EXPECT_TRUE(flowing->one<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL)) << i;
    EXPECT_EQ(flowing->one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE), CUDNN_DATA_FLOAT);
    flowing = steps[i]->to(CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  }
  EXPECT_EQ(flowing, library_.tensor(kYId)) << "the last step writes the output";
}

TEST_F(CudnnGraph, ReadsABiasAsFloatsAndAResidualAsTheOutputIs) {
  ASSERT_TRUE(make_with("bias w:float32[16] | add float32[2x16x4x5]").ok());
  const FakeDescriptor *bias = library_.tensor(kOperandIds),
                       *residual = library_.tensor(kOperandIds + 1);
  ASSERT_TRUE(bias && residual);
  EXPECT_EQ(bias->all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS), (Int64s{1, 16, 1, 1}));
  EXPECT_EQ(bias->one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE), CUDNN_DATA_FLOAT);
  EXPECT_EQ(residual->all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS), (Int64s{2, 16, 4, 5}));
  EXPECT_EQ(residual->one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE), CUDNN_DATA_HALF);
  EXPECT_EQ(pointwise()[0]->to(CUDNN_ATTR_OPERATION_POINTWISE_BDESC), bias);
  EXPECT_EQ(pointwise()[1]->to(CUDNN_ATTR_OPERATION_POINTWISE_BDESC), residual);
}

TEST_F(CudnnGraph, ListsItsOperationsInTheirOrderAndOwnsEveryPart) {
  {
    const auto graph = make_with("bias w:float32[16] | act kind=tanh");
    ASSERT_TRUE(graph.ok());
    const auto listed = library_.of_type(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
                            .at(0)
                            ->all<FakeDescriptor*>(CUDNN_ATTR_OPERATIONGRAPH_OPS);
    ASSERT_EQ(listed.size(), 3u);
    EXPECT_EQ(listed[0]->type, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    EXPECT_EQ(listed[1], pointwise()[0]);
    EXPECT_EQ(listed[2], pointwise()[1]);
    for (const auto& d : library_.descriptors) {
      EXPECT_TRUE(d->finalized) << d->type;
      EXPECT_FALSE(d->destroyed) << d->type;
    }
    EXPECT_FALSE(library_.uses_unfinished) << "a descriptor is finalised before it is named";
    EXPECT_FALSE(library_.sets_finalized);
  }
  for (const auto& d : library_.descriptors) EXPECT_TRUE(d->destroyed) << d->type;
}

TEST_F(CudnnGraph, KnowsTheActivationsThatCudnnHas) {
  const std::pair<const char*, cudnnPointwiseMode_t> rows[] = {
      {"relu", CUDNN_POINTWISE_RELU_FWD},
      {"sigmoid", CUDNN_POINTWISE_SIGMOID_FWD},
      {"tanh", CUDNN_POINTWISE_TANH_FWD},
      {"swish", CUDNN_POINTWISE_SWISH_FWD},
      {"gelu_erf", CUDNN_POINTWISE_GELU_FWD}};
  size_t step = 0;
  for (const auto& [kind, expected] : rows) {
    ASSERT_TRUE(make_with("act kind=" + std::string(kind)).ok()) << kind;
    EXPECT_EQ(mode(step++), expected) << kind;
  }
  for (const char* kind : {"mish", "elu alpha=1", "hard_swish", "gelu_tanh", "selu", "softplus"}) {
    const auto graph = make_with("act kind=" + std::string(kind));
    ASSERT_FALSE(graph.ok()) << kind;
    EXPECT_EQ(graph.error().code, ErrorCode::unsupported);
    EXPECT_EQ(graph.error().message, "cuDNN has no such activation");
  }
}

TEST_F(CudnnGraph, WritesBoundsAndSlopesOfAReluAsDoubles) {
  ASSERT_TRUE(make_with("act kind=clip alpha=-0.5 beta=6 | act kind=leaky_relu alpha=0.125").ok());
  const auto parameters = [&](size_t step) {
    return pointwise().at(step)->to(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  };
  EXPECT_EQ(mode(0), CUDNN_POINTWISE_RELU_FWD);
  EXPECT_EQ(parameters(0)->one<double>(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP), -0.5);
  EXPECT_EQ(parameters(0)->one<double>(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP), 6.0);
  EXPECT_EQ(mode(1), CUDNN_POINTWISE_RELU_FWD);
  EXPECT_EQ(parameters(1)->one<double>(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE), 0.125);
}

TEST_F(CudnnGraph, RefusesOperandsOfAnotherSize) {
  for (const char* operand : {"float32[2x16x1x1]", "w:float32[1]"}) {
    const auto graph = make_with("multiply " + std::string(operand));
    ASSERT_FALSE(graph.ok()) << operand;
    EXPECT_EQ(graph.error().code, ErrorCode::unsupported) << operand;
  }
}

TEST_F(CudnnGraph, GivesTheLibrarysErrorWithTheAttributeThatItRefused) {
  library_.refuses[CUDNN_ATTR_CONVOLUTION_DILATIONS] = CUDNN_STATUS_NOT_SUPPORTED;
  library_.last_error = "no dilations today";
  const auto graph = make_with("act kind=relu");
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().code, ErrorCode::unsupported);
  EXPECT_EQ(graph.error().message, "cudnnBackendSetAttribute(" +
                                       std::to_string(CUDNN_ATTR_CONVOLUTION_DILATIONS) +
                                       "): SOME_STATUS (no dilations today)");
  for (const auto& d : library_.descriptors) EXPECT_TRUE(d->destroyed) << "what was made is freed";
}

TEST(CudnnStatus, BecomesAnErrorOfItsKind) {
  FakeCudnn library;
  const std::pair<cudnnStatus_t, ErrorCode> rows[] = {
      {CUDNN_STATUS_NOT_SUPPORTED, ErrorCode::unsupported},
      {CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, ErrorCode::unsupported},
      {CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED, ErrorCode::out_of_memory},
      {CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED, ErrorCode::out_of_memory},
      {CUDNN_STATUS_BAD_PARAM, ErrorCode::internal},
      {CUDNN_STATUS_EXECUTION_FAILED, ErrorCode::internal}};
  for (const auto& [status, code] : rows) {
    const Status checked = library.table.check(status, "cudnnSomething");
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().code, code) << status;
    EXPECT_EQ(checked.error().message, "cudnnSomething: SOME_STATUS");
  }
  EXPECT_TRUE(library.table.check(CUDNN_STATUS_SUCCESS, "").ok());
}

TEST(CudnnConfig, IsReadBackFromItsName) {
  CudnnConfig config;
  config.engine = 12;
  EXPECT_EQ(config.name(), "eng12");
  config.knobs = {{1, 4}, {7, -2}};
  EXPECT_EQ(config.name(), "eng12_k1=4_k7=-2");
  for (const char* name : {"eng0", "eng12", "eng3_k0=1", "eng12_k1=4_k7=-2"}) {
    const auto parsed = CudnnConfig::parse(name);
    ASSERT_TRUE(parsed) << name;
    EXPECT_EQ(parsed->name(), name);
  }
  for (const char* name : {"", "eng", "engine1", "12", "eng1_k", "eng1_k2", "eng1_k2=", "eng1x",
                           "eng1_k2=3_", "eng1_k2=3x", "eng1 _k2=3,"}) {
    EXPECT_FALSE(CudnnConfig::parse(name)) << name;
  }
}

class CudnnProposals : public CudnnGraph {
 protected:
  Result<std::vector<CudnnConfig>> propose() {
    auto graph = make_with("act kind=relu");
    return propose_configs(library_.table, graph.value());
  }
  static std::vector<std::string> names(const std::vector<CudnnConfig>& configs) {
    std::vector<std::string> out;
    for (const CudnnConfig& c : configs) out.push_back(c.name());
    return out;
  }
};

TEST_F(CudnnProposals, AreThoseOfEachModeInTurnEachOnce) {
  library_.proposals[CUDNN_HEUR_MODE_FALLBACK] = {{9, {}, {}, 0}, {1, {{2, 3}}, {}, 0}};
  library_.proposals[CUDNN_HEUR_MODE_A] = {{1, {{2, 3}}, {}, 0}, {1, {{2, 4}}, {}, 0}};
  library_.proposals[CUDNN_HEUR_MODE_B] = {{1, {{2, 4}}, {}, 0}, {5, {}, {}, 0}};
  const auto configs = propose();
  ASSERT_TRUE(configs.ok()) << configs.error().message;
  EXPECT_EQ(names(*configs), (std::vector<std::string>{"eng1_k2=3", "eng1_k2=4", "eng5", "eng9"}));
}

// A name must not depend on the order in which a version of the library lists knobs.
TEST_F(CudnnProposals, NameTheirKnobsInAscendingOrder) {
  library_.proposals[CUDNN_HEUR_MODE_A] = {{1, {{8, 1}, {2, 5}}, {}, 0}};
  EXPECT_EQ(names(propose().value()), std::vector<std::string>{"eng1_k2=5_k8=1"});
}

TEST_F(CudnnProposals, SayWhatTheLibraryNotesOfAnEngine) {
  library_.proposals[CUDNN_HEUR_MODE_A] = {
      {1, {}, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, 77},
      {2,
       {},
       {CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC},
       0}};
  const auto configs = propose().value();
  ASSERT_EQ(configs.size(), 2u);
  EXPECT_TRUE(configs[0].tensor_cores && configs[0].deterministic && !configs[0].down_converts);
  EXPECT_TRUE(!configs[1].tensor_cores && !configs[1].deterministic && configs[1].down_converts);
  EXPECT_EQ(configs[0].workspace_bytes, 77);
}

TEST_F(CudnnProposals, DoNotNeedTheWorkspaceThatOlderVersionsDoNotSay) {
  library_.proposals[CUDNN_HEUR_MODE_A] = {{1, {}, {}, 77}};
  library_.refuses[CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE] = CUDNN_STATUS_NOT_SUPPORTED;
  const auto configs = propose();
  ASSERT_TRUE(configs.ok());
  EXPECT_EQ(configs->at(0).workspace_bytes, std::nullopt);
}

TEST_F(CudnnProposals, OfNoneAreARefusalWithTheLibrarysReason) {
  ASSERT_FALSE(propose().ok());
  EXPECT_EQ(propose().error().message, "cuDNN proposes nothing");
  library_.refuses[CUDNN_ATTR_ENGINEHEUR_RESULTS] = CUDNN_STATUS_NOT_SUPPORTED;
  const auto refused = propose();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_NE(refused.error().message.find("cuDNN proposes nothing: cudnnBackendGetAttribute"),
            std::string::npos)
      << refused.error().message;
}

TEST_F(CudnnGraph, IsPlannedWithTheEngineAndKnobsOfTheName) {
  auto graph = make_with("act kind=relu");
  const auto plan = make_plan(library_.table, some_handle(), std::move(*graph),
                              *CudnnConfig::parse("eng7_k1=4_k3=9"));
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->workspace_bytes, 4096);
  const auto engines = library_.of_type(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  ASSERT_EQ(engines.size(), 1u);
  EXPECT_EQ(engines[0]->one<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX), 7);
  const auto choices = library_.of_type(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
  ASSERT_EQ(choices.size(), 2u);
  EXPECT_EQ(choices[1]->one<int>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE), 3);
  EXPECT_EQ(choices[1]->one<int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE), 9);
  const FakeDescriptor* chosen = library_.of_type(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).at(0);
  EXPECT_EQ(chosen->to(CUDNN_ATTR_ENGINECFG_ENGINE), engines[0]);
  EXPECT_EQ(chosen->all<FakeDescriptor*>(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES).size(), 2u);
  for (const auto& d : library_.descriptors) EXPECT_FALSE(d->destroyed) << "a plan reads its parts";
}

}  // namespace
}  // namespace enginery
