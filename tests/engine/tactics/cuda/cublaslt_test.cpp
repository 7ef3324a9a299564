// What cuBLASLt is told of a product, which epilogues it is given and which calls run: with a
// library of the test's own, no GPU.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "engine/tactics/cuda/cublaslt/lt_matmul.h"
#include "tests/support/problem_text.h"

namespace enginery {
namespace {

struct Product {
  ConvShape shape;
  LoweredEpilogue epilogue;
};

Product product_of(const std::string& text, DataType type = DataType::float16) {
  const Problem problem = parse_problem(text).value();
  const ConvShape shape = conv_shape(problem).value();
  return {shape, lower_conv_epilogue(problem, shape, type).value()};
}

// A 1x1 convolution of [2, 8, 4, 5] with 16 output channels and what follows it.
Product convolution_with(const std::string& epilogue) {
  return product_of(
      "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[2x8x4x5] "
      "w:float32[16x8x1x1]" +
      (epilogue.empty() ? "" : " | " + epilogue));
}

TEST(LtEpilogue, IsBiasThenResidualThenOneActivation) {
  const std::string bias = "bias w:float32[16]", residual = "add float32[2x16x4x5]",
                    relu = "act kind=relu", gelu = "act kind=gelu_tanh";
  const struct {
    std::string steps;
    cublasLtEpilogue_t kind;
    int bias_slot, add_slot;
  } rows[] = {
      {"", CUBLASLT_EPILOGUE_DEFAULT, -1, -1},
      {bias, CUBLASLT_EPILOGUE_BIAS, 0, -1},
      {relu, CUBLASLT_EPILOGUE_RELU, -1, -1},
      {gelu, CUBLASLT_EPILOGUE_GELU, -1, -1},
      {bias + " | " + relu, CUBLASLT_EPILOGUE_RELU_BIAS, 0, -1},
      {bias + " | " + gelu, CUBLASLT_EPILOGUE_GELU_BIAS, 0, -1},
      {residual, CUBLASLT_EPILOGUE_DEFAULT, -1, 0},
      {bias + " | " + residual, CUBLASLT_EPILOGUE_BIAS, 0, 1},
      {bias + " | " + residual + " | " + relu, CUBLASLT_EPILOGUE_RELU_BIAS, 0, 1},
      {residual + " | " + relu, CUBLASLT_EPILOGUE_RELU, -1, 0},
  };
  for (const auto& row : rows) {
    const auto epilogue = lt_epilogue(convolution_with(row.steps).epilogue);
    ASSERT_TRUE(epilogue.ok()) << row.steps << ": " << epilogue.error().message;
    EXPECT_EQ(epilogue->kind, row.kind) << row.steps;
    EXPECT_EQ(epilogue->bias_slot, row.bias_slot) << row.steps;
    EXPECT_EQ(epilogue->add_slot, row.add_slot) << row.steps;
  }
}

TEST(LtEpilogue, RefusesEveryOtherStepAndOrder) {
  for (const char* steps :
       {"act kind=relu | bias w:float32[16]", "act kind=relu | add float32[2x16x4x5]",
        "act kind=relu | act kind=relu", "add float32[2x16x4x5] | bias w:float32[16]",
        "add float32[2x16x4x5] | add float32[2x16x4x5]", "bias w:float32[16] | bias w:float32[16]",
        "add w:float32[2x16x4x5]", "add w:float32[1]", "multiply w:float32[16x1x1]",
        "multiply float32[2x16x4x5]", "add float32[2x16x1x1]"}) {
    const auto epilogue = lt_epilogue(convolution_with(steps).epilogue);
    ASSERT_FALSE(epilogue.ok()) << steps;
    EXPECT_EQ(epilogue.error().code, ErrorCode::unsupported) << steps;
    EXPECT_EQ(epilogue.error().message, "an epilogue that cuBLASLt does not fuse") << steps;
  }
  for (const char* kind : {"gelu_erf", "sigmoid", "clip alpha=0 beta=6", "leaky_relu alpha=0.1"}) {
    const auto epilogue = lt_epilogue(convolution_with("act kind=" + std::string(kind)).epilogue);
    ASSERT_FALSE(epilogue.ok()) << kind;
    EXPECT_EQ(epilogue.error().message, "an activation that cuBLASLt does not fuse");
  }
}

// Keeps what it is told. One at a time: the library's functions have no context.
class FakeLt {
 public:
  struct Layout {
    cudaDataType type;
    uint64_t rows, columns;
    int64_t ld;
  };
  struct Run {
    float alpha, beta;
    const void *w, *x, *c;
    void* d;
    const Layout *w_layout, *x_layout, *c_layout, *d_layout;
    size_t workspace_bytes;
  };

  FakeLt() {
    current_ = this;
    table.cublasLtGetStatusString = [](cublasStatus_t) { return "SOME_STATUS"; };
    table.cublasLtMatmulDescCreate = [](cublasLtMatmulDesc_t* out, cublasComputeType_t computed_in,
                                        cudaDataType_t scaled_by) {
      current_->compute = computed_in;
      current_->scale = scaled_by;
      ++current_->alive;
      *out = reinterpret_cast<cublasLtMatmulDesc_t>(current_);
      return CUBLAS_STATUS_SUCCESS;
    };
    table.cublasLtMatmulDescDestroy = [](cublasLtMatmulDesc_t) {
      --current_->alive;
      return CUBLAS_STATUS_SUCCESS;
    };
    table.cublasLtMatmulDescSetAttribute = [](cublasLtMatmulDesc_t,
                                              cublasLtMatmulDescAttributes_t name,
                                              const void* value, size_t bytes) {
      const auto* from = static_cast<const char*>(value);
      current_->attributes[name].assign(from, from + bytes);
      return CUBLAS_STATUS_SUCCESS;
    };
    table.cublasLtMatrixLayoutCreate = [](cublasLtMatrixLayout_t* out, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t ld) {
      if (current_->alive > current_->layouts_that_fit) return CUBLAS_STATUS_ALLOC_FAILED;
      ++current_->alive;
      *out = reinterpret_cast<cublasLtMatrixLayout_t>(
          std::make_unique<Layout>(Layout{type, rows, columns, ld}).release());
      return CUBLAS_STATUS_SUCCESS;
    };
    table.cublasLtMatrixLayoutDestroy = [](cublasLtMatrixLayout_t layout) {
      const std::unique_ptr<Layout> last(reinterpret_cast<Layout*>(layout));
      --current_->alive;
      return CUBLAS_STATUS_SUCCESS;
    };
    table.cublasLtMatmulPreferenceCreate = [](cublasLtMatmulPreference_t* out) {
      ++current_->alive;
      *out = reinterpret_cast<cublasLtMatmulPreference_t>(current_);
      return CUBLAS_STATUS_SUCCESS;
    };
    table.cublasLtMatmulPreferenceDestroy = [](cublasLtMatmulPreference_t) {
      --current_->alive;
      return CUBLAS_STATUS_SUCCESS;
    };
    table.cublasLtMatmulPreferenceSetAttribute = [](cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t,
                                                    const void* value, size_t bytes) {
      std::memcpy(&current_->workspace_limit, value, bytes);
      return CUBLAS_STATUS_SUCCESS;
    };
    table.cublasLtMatmulAlgoGetHeuristic =
        [](cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
           cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int room,
           cublasLtMatmulHeuristicResult_t* results, int* count) {
          *count = std::min(room, static_cast<int>(current_->states.size()));
          for (int i = 0; i < *count; ++i) {
            results[i].state = current_->states[static_cast<size_t>(i)];
            results[i].workspaceSize = static_cast<size_t>(i);
          }
          return CUBLAS_STATUS_SUCCESS;
        };
    table.cublasLtMatmul = [](cublasLtHandle_t, cublasLtMatmulDesc_t, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t*, void*,
                              size_t workspace_bytes, cudaStream_t) {
      const auto layout = [](cublasLtMatrixLayout_t l) { return reinterpret_cast<Layout*>(l); };
      current_->run = {*static_cast<const float*>(alpha),
                       *static_cast<const float*>(beta),
                       a,
                       b,
                       c,
                       d,
                       layout(a_layout),
                       layout(b_layout),
                       layout(c_layout),
                       layout(d_layout),
                       workspace_bytes};
      return CUBLAS_STATUS_SUCCESS;
    };
  }
  ~FakeLt() { current_ = nullptr; }
  FakeLt(const FakeLt&) = delete;
  FakeLt& operator=(const FakeLt&) = delete;

  template <typename T>
  T attribute(cublasLtMatmulDescAttributes_t name) const {
    T out{};
    const auto& bytes = attributes.at(name);
    EXPECT_EQ(bytes.size(), sizeof out);
    std::memcpy(&out, bytes.data(), sizeof out);
    return out;
  }

  CublasLt table;
  cublasComputeType_t compute{};
  cudaDataType_t scale{};
  std::map<cublasLtMatmulDescAttributes_t, std::vector<char>> attributes;
  std::vector<cublasStatus_t> states;  // of the heuristic's results
  uint64_t workspace_limit = 0;
  int alive = 0;  // descriptors, layouts and preferences
  int layouts_that_fit = 100;
  Run run{};

 private:
  static inline FakeLt* current_ = nullptr;
};

// The product's addresses: any that differ.
const void* const kW = reinterpret_cast<const void*>(uintptr_t{0x1000});
const void* const kX = reinterpret_cast<const void*>(uintptr_t{0x2000});
const void* const kC = reinterpret_cast<const void*>(uintptr_t{0x3000});
void* const kD = reinterpret_cast<void*>(uintptr_t{0x4000});

// NHWC seen column-major: W' is [c, k], X is [c, m], D is [k, m], and W is read transposed.
TEST(LtMatmul, SeesChannelsLastTensorsColumnMajor) {
  FakeLt lt;
  const Product product = product_of(
      "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[2x5x4x3] "
      "w:float32[12x5x1x1]");
  const auto matmul = LtMatmul::create(lt.table, product.shape, Precision::fp16, {});
  ASSERT_TRUE(matmul.ok()) << matmul.error().message;
  EXPECT_EQ(lt.attribute<cublasOperation_t>(CUBLASLT_MATMUL_DESC_TRANSA), CUBLAS_OP_T);
  EXPECT_FALSE(lt.attributes.contains(CUBLASLT_MATMUL_DESC_TRANSB));
  ASSERT_TRUE((*matmul)->run(nullptr, {}, {kW, kX, nullptr, kD, nullptr}, 99, nullptr).ok());
  const auto expect_layout = [](const FakeLt::Layout& l, uint64_t rows, uint64_t columns) {
    EXPECT_EQ(l.rows, rows);
    EXPECT_EQ(l.columns, columns);
    EXPECT_EQ(l.ld, static_cast<int64_t>(rows)) << "columns lie side by side, with their padding";
    EXPECT_EQ(l.type, CUDA_R_16F);
  };
  expect_layout(*lt.run.w_layout, 8, 16);
  expect_layout(*lt.run.x_layout, 8, 24);
  expect_layout(*lt.run.d_layout, 16, 24);
  EXPECT_EQ(lt.run.w, kW);
  EXPECT_EQ(lt.run.x, kX);
  EXPECT_EQ(lt.run.d, kD);
  EXPECT_EQ(lt.run.alpha, 1);
  EXPECT_EQ(lt.run.workspace_bytes, 99u);
}

TEST(LtMatmul, SumsInFloat32AndRoundsOnlyWhereAskedTo) {
  const struct {
    Precision precision;
    cublasComputeType_t compute;
    cudaDataType type;
  } rows[] = {{Precision::fp32, CUBLAS_COMPUTE_32F, CUDA_R_32F},
              {Precision::tf32, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F},
              {Precision::fp16, CUBLAS_COMPUTE_32F, CUDA_R_16F},
              {Precision::bf16, CUBLAS_COMPUTE_32F, CUDA_R_16BF}};
  const Product product = product_of("matmul | float32[3x8] w:float32[8x16]");
  for (const auto& row : rows) {
    FakeLt lt;
    const auto matmul = LtMatmul::create(lt.table, product.shape, row.precision, {});
    ASSERT_TRUE(matmul.ok());
    EXPECT_EQ(lt.compute, row.compute);
    EXPECT_EQ(lt.scale, CUDA_R_32F);
    ASSERT_TRUE((*matmul)->run(nullptr, {}, {kW, kX, nullptr, kD, nullptr}, 0, nullptr).ok());
    EXPECT_EQ(lt.run.x_layout->type, row.type);
  }
}

// With beta 0 the library still wants an address for C: that of D, which it does not read.
TEST(LtMatmul, AddsTheResidualWithBetaAndReadsNoneOtherwise) {
  FakeLt lt;
  const ConvShape shape = convolution_with("").shape;
  LtEpilogue with;
  with.add_slot = 1;
  const auto residual = LtMatmul::create(lt.table, shape, Precision::fp16, with);
  ASSERT_TRUE(residual.ok());
  ASSERT_TRUE((*residual)->run(nullptr, {}, {kW, kX, kC, kD, nullptr}, 0, nullptr).ok());
  EXPECT_EQ(lt.run.beta, 1);
  EXPECT_EQ(lt.run.c, kC);
  const auto plain = LtMatmul::create(lt.table, shape, Precision::fp16, {});
  ASSERT_TRUE((*plain)->run(nullptr, {}, {kW, kX, nullptr, kD, nullptr}, 0, nullptr).ok());
  EXPECT_EQ(lt.run.beta, 0);
  EXPECT_EQ(lt.run.c, kD);
  EXPECT_EQ(lt.run.c_layout, lt.run.d_layout);
}

TEST(LtMatmul, TellsTheEpilogueAndWhereTheBiasLies) {
  FakeLt lt;
  const Product product = convolution_with("bias w:float32[16] | act kind=relu");
  const auto matmul = LtMatmul::create(lt.table, product.shape, Precision::fp16,
                                       lt_epilogue(product.epilogue).value());
  ASSERT_TRUE(matmul.ok());
  EXPECT_EQ(lt.attribute<cublasLtEpilogue_t>(CUBLASLT_MATMUL_DESC_EPILOGUE),
            CUBLASLT_EPILOGUE_RELU_BIAS);
  ASSERT_TRUE((*matmul)->set_bias(kC).ok());
  EXPECT_EQ(lt.attribute<const void*>(CUBLASLT_MATMUL_DESC_BIAS_POINTER), kC);
}

TEST(LtMatmul, ProposesOnlyWhatTheHeuristicVouchesFor) {
  FakeLt lt;
  lt.states = {CUBLAS_STATUS_SUCCESS, CUBLAS_STATUS_NOT_SUPPORTED, CUBLAS_STATUS_SUCCESS};
  const auto matmul =
      LtMatmul::create(lt.table, convolution_with("").shape, Precision::fp16, {}).value();
  const auto results = matmul->propose(nullptr, 12345);
  ASSERT_TRUE(results.ok());
  ASSERT_EQ(results->size(), 2u);
  EXPECT_EQ((*results)[1].workspaceSize, 2u) << "the order is the heuristic's";
  EXPECT_EQ(lt.workspace_limit, 12345u);
}

TEST(LtMatmul, FreesWhatItMadeAlsoWhereTheRestFails) {
  FakeLt lt;
  const ConvShape shape = convolution_with("").shape;
  { ASSERT_TRUE(LtMatmul::create(lt.table, shape, Precision::fp16, {}).ok()); }
  EXPECT_EQ(lt.alive, 0);
  lt.layouts_that_fit = 2;
  const auto matmul = LtMatmul::create(lt.table, shape, Precision::fp16, {});
  ASSERT_FALSE(matmul.ok());
  EXPECT_EQ(matmul.error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(lt.alive, 0);
}

TEST(CublasLtStatus, BecomesAnErrorOfItsKind) {
  FakeLt lt;
  const std::pair<cublasStatus_t, ErrorCode> rows[] = {
      {CUBLAS_STATUS_NOT_SUPPORTED, ErrorCode::unsupported},
      {CUBLAS_STATUS_ALLOC_FAILED, ErrorCode::out_of_memory},
      {CUBLAS_STATUS_INVALID_VALUE, ErrorCode::internal},
      {CUBLAS_STATUS_EXECUTION_FAILED, ErrorCode::internal}};
  for (const auto& [status, code] : rows) {
    const Status checked = lt.table.check(status, "cublasLtSomething");
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().code, code);
    EXPECT_EQ(checked.error().message, "cublasLtSomething: SOME_STATUS");
  }
  EXPECT_TRUE(lt.table.check(CUBLAS_STATUS_SUCCESS, "").ok());
}

}  // namespace
}  // namespace enginery
