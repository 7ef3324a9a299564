// Names of cuBLASLt's algorithms. Needs the library, no GPU.
#ifdef ENGINERY_HAVE_CUDA
#include <gtest/gtest.h>

#include <cstring>

#include "engine/tactics/cuda/cublaslt/lt_matmul.h"

namespace enginery {
namespace {

// What the heuristic of version 13 gave for one layer in two processes: two bytes that nobody set
// differ.
constexpr char kOnce[] =
    "370000000f0000001f00000001000000000000000000000000000000000000000100fdce34fc010000000000000000"
    "00000000004400000000000000";
constexpr char kAgain[] =
    "370000000f0000001f00000001000000000000000000000000000000000000000100000034fc010000000000000000"
    "00000000004400000000000000";
constexpr char kOther[] =
    "370000000c0000001f00000006000000020000000000000000000000000000000100000034fc010000000000000000"
    "00000000004400000000000000";

cublasLtMatmulAlgo_t algorithm_of(const char* hex) {
  cublasLtMatmulAlgo_t out{};
  for (size_t i = 0; hex[2 * i] && i < sizeof out; ++i) {
    unsigned byte = 0;
    std::sscanf(hex + 2 * i, "%2x", &byte);
    reinterpret_cast<unsigned char*>(&out)[i] = static_cast<unsigned char>(byte);
  }
  return out;
}

TEST(CublasLtNames, AreTheSameInEveryProcess) {
  auto lt = CublasLt::open(90);
  if (!lt.ok()) GTEST_SKIP() << lt.error().message;
  auto once = algorithm_name(*lt, algorithm_of(kOnce)),
       again = algorithm_name(*lt, algorithm_of(kAgain)),
       other = algorithm_name(*lt, algorithm_of(kOther));
  ASSERT_TRUE(once.ok() && again.ok() && other.ok());
  EXPECT_EQ(*once, "a55_t15_s31_k1_r0_w0_o0_i0_c0");
  EXPECT_EQ(*again, *once);
  EXPECT_EQ(*other, "a55_t12_s31_k6_r2_w0_o0_i0_c0");
}

}  // namespace
}  // namespace enginery
#endif
